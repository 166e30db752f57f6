// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What one lane of a warp contributes to the products of product.h, and what it makes of their
// results. All of this compiles for the host, too.

#include <cstdint>

#include "cuda/nlmeans/kernel_arguments.h"
#include "cuda/nlmeans/product.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::nlmeans {

template <class Kind>
class ProductLane {
 public:
  /// `thread` is the number of the lane in its block, and `top` the first row of the warp's squares
  /// in the tile. pixels and norms are those of productfill.h.
  CUDAVISION_HOST_DEVICE ProductLane(const NlMeansArguments& a, int thread, int top,
                                     const std::uint32_t* pixels, const int* norms)
      : a_(a),
        pixels_(pixels),
        norms_(norms),
        column_(thread / 32),
        top_(top),
        g_(thread % 32 / 4),
        t_(thread % 4),
        row_bias_(g_) {
    const ProductShape& shape = a.shape;
    const int patch = 2 * a.patch_radius + 1;
    const int patch_x = a.search_radius + x();
    CUDAVISION_UNROLL
    for (int s = 0; s < Kind::squares; ++s)
      CUDAVISION_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int patch_y = a.search_radius + y(2 * s + half);
      const int norm = patch_x * shape.candidate_rows + patch_y;
      high_norms_[s][half] = norms[norm];
      if (Kind::sample_bytes == 2)
        low_norms_[s][half] = norms[shape.candidate_rows * shape.candidate_columns + norm];
      if (Kind::joins_planes) {
        // The upper part is even. It takes part in the products from their start.
        high_norms_[s][half] = -((norms[norm] >> (a.scale_log2 + 1)) + joined_limit / 2);
        low_norms_[s][half] -=
            static_cast<int>(static_cast<std::uint32_t>(joined_limit) << (2 * a.low_bits));
      }
      CUDAVISION_UNROLL
      for (int p = 0; p < Kind::planes; ++p)
        CUDAVISION_UNROLL
      for (int i = 0; i < Kind::words; ++i) {
        const int row = t_ + 4 * (i / Kind::side), word = i % Kind::side;
        left_[s][p][2 * i + half] =
            pixels[p * shape.plane_words + word_at(shape, patch_x, patch_y + row) +
                   word * shape.rows] &
            patch_mask(patch, row, word);
      }
    }
  }

  /// Returns a coordinate of a pixel of the lane, in the tile. Pixel number 2s + half is row
  /// g + 8 · half of square s.
  CUDAVISION_HOST_DEVICE int x() const { return 4 * column_ + pixel_x(g_); }
  CUDAVISION_HOST_DEVICE int y(int pixel) const {
    return top_ + 4 * (pixel / 2) + pixel_y(g_ + 8 * (pixel % 2));
  }

  /// Returns the lane's words of a plane in the left factor of the first product: for each of its
  /// words of the patch, those of both rows.
  CUDAVISION_HOST_DEVICE const std::uint32_t (&left(int square, int plane) const)[2 * Kind::words] {
    return left_[square][plane];
  }

  /// Returns what the sum of the products of the upper planes begins with.
  CUDAVISION_HOST_DEVICE int first_high(int square, int half) const {
    return Kind::joins_planes ? high_norms_[square][half] : 0;
  }

  /// Eight candidates of a row.
  struct CandidateRow {
    std::uint32_t right[Kind::planes][Kind::words];  ///< of the first product
    std::uint32_t samples[Kind::products][2];        ///< the right factors of the second ones
    int high_norms[2], low_norms[2];                 ///< of columns 2t and 2t + 1
  };

  /// Where the lane finds its part of a group of eight columns of candidates, from the first row of
  /// the warp on.
  struct Candidates {
    const std::uint32_t* right;
    const std::uint32_t* samples;
    const int* norms;
    int bias[2];  ///< of columns 2t and 2t + 1

    CUDAVISION_HOST_DEVICE void skip(int rows) {
      right += rows;
      samples += rows;
      norms += rows;
    }
  };

  CUDAVISION_HOST_DEVICE Candidates candidates(int group) const {
    const ProductShape& shape = a_.shape;
    const int first = column_ + 2 * group;  // word of the first candidate's patch
    Candidates found;
    found.right = pixels_ + word_at(shape, 4 * first + g_, top_ + t_);
    found.samples =
        pixels_ + word_at(shape, 4 * (first + t_ / 2) + a_.patch_radius, top_ + a_.patch_radius);
    found.norms = norms_ + (4 * first + 2 * t_) * shape.candidate_rows + top_;
    CUDAVISION_UNROLL
    for (int i = 0; i < 2; ++i)
      found.bias[i] = search_bias(8 * group + 2 * t_ + i, pixel_x(g_), a_.search_radius);
    return found;
  }

  /// Loads the part of the candidates that are `row` rows below.
  CUDAVISION_HOST_DEVICE CandidateRow load(const Candidates& from, int row) const {
    const ProductShape& shape = a_.shape;
    CandidateRow loaded;
    CUDAVISION_UNROLL
    for (int p = 0; p < Kind::planes; ++p)
      CUDAVISION_UNROLL
    for (int i = 0; i < Kind::words; ++i)
      loaded.right[p][i] = from.right[p * shape.plane_words + i % Kind::side * shape.rows + row +
                                      i / Kind::side * 4];
    CUDAVISION_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int* const norm = from.norms + i * shape.candidate_rows + row;
      loaded.high_norms[i] = norm[0] + from.bias[i];
      loaded.low_norms[i] =
          Kind::sample_bytes == 2 ? norm[shape.candidate_rows * shape.candidate_columns] : 0;
    }
    CUDAVISION_UNROLL
    for (int m = 0; m < Kind::products; ++m) {
      const int plane = 2 * m + (g_ & 1);
      const std::uint32_t word =
          from.samples[(plane < Kind::planes ? plane * shape.plane_words : 0) + row];
      CUDAVISION_UNROLL
      for (int i = 0; i < 2; ++i)
        loaded.samples[m][i] =
            select_bytes(word, weight_constants, weight_selector<Kind>(m, g_, 2 * (t_ & 1) + i));
    }
    return loaded;
  }

  /// Returns the scaled distance between pixel `half` of square s and candidate `column` of a row,
  /// and max_distance where it is greater or the pixel does not search there. high, mixed and low
  /// are sums of products of the planes; where they are joined, low is their sum. The row is number
  /// pair_row + row of those that the square needs, and belongs to a pair that begins with number
  /// pair_row.
  CUDAVISION_HOST_DEVICE int distance(int s, int half, int column, const CandidateRow& candidates,
                                      RowPair pair, int pair_row, int row, int high, int mixed,
                                      int low) const {
    const int bias = row_bias_.of(pair, pair_row, row, half, a_.search_radius);
    const int candidate_high = candidates.high_norms[column],
              candidate_low = candidates.low_norms[column];
    int all = 0;
    if constexpr (Kind::joins_planes)
      all = joined_distance(high, low, candidate_high, candidate_low, low_norms_[s][half],
                            a_.joined_shift, a_.product_scale) +
            bias;
    else if constexpr (Kind::sample_bytes == 2)
      all = scaled_distance(high, mixed, low, candidate_high, candidate_low, low_norms_[s][half],
                            a_.low_bits, a_.scale_log2, a_.product_scale) +
            (high_norms_[s][half] + bias);
    else
      all = high * a_.product_scale + candidate_high + (high_norms_[s][half] + bias);
    return all < a_.max_distance ? all : a_.max_distance;
  }

  /// Returns the part of the sum of the weights times the samples of a plane that is in the lane.
  /// `sum` is the lane's sum in the plane's second product. The parts of the four lanes with equal
  /// g make up the whole.
  CUDAVISION_HOST_DEVICE std::uint32_t plane_part(int sum) const {
    const std::uint32_t value = t_ == 0   ? 1
                                : t_ == 1 ? digit_base
                                : t_ == 2 ? digit_base * digit_base
                                          : 0;
    return static_cast<std::uint32_t>(sum) * value;
  }

  /// Returns the same for the sum of the weights, from both sums of the first second product.
  CUDAVISION_HOST_DEVICE std::uint32_t weight_part(int low_digits, int third_digit) const {
    return t_ == digits ? static_cast<std::uint32_t>(low_digits) +
                              static_cast<std::uint32_t>(third_digit) * (digit_base * digit_base)
                        : 0;
  }

 private:
  const NlMeansArguments& a_;
  const std::uint32_t* pixels_;
  const int* norms_;
  int column_, top_;  // of the warp's squares, in words and in rows
  int g_, t_;
  RowBias row_bias_;
  std::uint32_t left_[Kind::squares][Kind::planes][2 * Kind::words];
  int high_norms_[Kind::squares][2], low_norms_[Kind::squares][2];
};

}  // namespace cudavision::nlmeans
