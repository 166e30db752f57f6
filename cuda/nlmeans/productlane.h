// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// One lane's factors of the products of product.h, and the use of the results.

#include <cstdint>

#include "cuda/nlmeans/kernel_arguments.h"
#include "cuda/nlmeans/product.h"
#include "cuda/nlmeans/search_tile.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::nlmeans {

struct LanePosition {
  const std::uint32_t* pixels;
  const int* norms;
  const std::uint32_t* reference;  ///< the denoised frame; nullptr if no other frame is searched
  int thread;                      ///< index of the thread in its block
  int top;                         ///< row of the tile at which the warp's squares begin

  CUDAVISION_HOST_DEVICE int column() const { return thread / 32; }  ///< word column of the squares
  CUDAVISION_HOST_DEVICE int g() const { return thread % 32 / 4; }
  CUDAVISION_HOST_DEVICE int t() const { return thread % 4; }

  /// Tile coordinates, without halo. Pixel 2s + half is row g + 8 · half of square s's left factor.
  CUDAVISION_HOST_DEVICE int x() const { return 4 * column() + pixel_x(g()); }
  CUDAVISION_HOST_DEVICE int y(int pixel) const {
    return top + 4 * (pixel / 2) + pixel_y(g() + 8 * (pixel % 2));
  }
};

template <class Kind>
class ProductLane {
 public:
  /// first_entry is added to all scaled distances, which turns table offsets into addresses.
  CUDAVISION_HOST_DEVICE ProductLane(const NlMeansArguments& a, const LanePosition& position,
                                     int first_entry)
      : a_(a), limit_(a.max_distance + first_entry) {
    const OwnPatches own(a, position);
    CUDAVISION_UNROLL
    for (int s = 0; s < Kind::squares; ++s)
      CUDAVISION_UNROLL
    for (int half = 0; half < 2; ++half) {
      take_patch(own, s, half);
      high_norms_[s][half] += first_entry;
      if (Kind::joins_planes) {
        high_norms_[s][half] += joined_limit * (1 << a.scale_log2);
        low_norms_[s][half] -=
            static_cast<int>(static_cast<std::uint32_t>(joined_limit) << (2 * a.low_bits));
      }
    }
  }

  /// The lane's words in the left factor of the first product, for both pixels.
  CUDAVISION_HOST_DEVICE const std::uint32_t (&left(int square, int plane) const)[2 * Kind::words] {
    return left_[square][plane];
  }

  struct CandidateRow {
    std::uint32_t right[Kind::planes][Kind::words];  ///< right factor of the first product
    std::uint32_t samples[Kind::products][2];        ///< right factors of the second products
    int high_norms[2], low_norms[2];                 ///< norms of candidates 2t and 2t + 1
  };

  /// The lane's part of a group of eight columns of candidates, starting at the warp's first row.
  struct Candidates {
    const std::uint32_t* right;
    const std::uint32_t* samples[Kind::products];
    const int* norms[2];  ///< norms of candidates 2t and 2t + 1
    std::uint32_t selectors[Kind::products][2];
    RowBias row_bias;

    CUDAVISION_HOST_DEVICE void skip(int rows) {
      right += rows;
      CUDAVISION_UNROLL
      for (int m = 0; m < Kind::products; ++m)
        samples[m] += rows;
      norms[0] += rows;
      norms[1] += rows;
    }
  };

  CUDAVISION_HOST_DEVICE Candidates candidates(const LanePosition& position, int group) const {
    const ProductShape& shape = a_.shape;
    const int g = position.g(), t = position.t();
    const int first = position.column() + 2 * group;  // first word of the first candidate's patch
    Candidates found{};
    found.row_bias = RowBias(g);
    found.right = position.pixels + word_at(shape, 4 * first + g, position.top + t);
    CUDAVISION_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int column = 2 * t + i;
      const bool searched = searches(pixel_x(g), 8 * group + column, a_.search_radius);
      found.norms[i] = position.norms + position.top +
                       (searched ? (4 * first + column) * shape.norm_rows : shape.dummy_norms());
    }
    CUDAVISION_UNROLL
    for (int m = 0; m < Kind::products; ++m) {
      const int plane = 2 * m + (g & 1);
      found.samples[m] =
          position.pixels + (plane < Kind::planes ? plane * shape.plane_words : 0) +
          word_at(shape, 4 * (first + t / 2) + a_.patch_radius, position.top + a_.patch_radius);
      CUDAVISION_UNROLL
      for (int i = 0; i < 2; ++i)
        found.selectors[m][i] = weight_selector<Kind>(m, g, 2 * (t & 1) + i);
    }
    return found;
  }

  /// Loads the lane's elements for a row of candidates. `row` is relative to the current row.
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
      loaded.high_norms[i] = from.norms[i][row];
      loaded.low_norms[i] = Kind::sample_bytes == 2 ? from.norms[i][shape.norm_words() + row] : 0;
    }
    CUDAVISION_UNROLL
    for (int m = 0; m < Kind::products; ++m)
      CUDAVISION_UNROLL
    for (int i = 0; i < 2; ++i)
      loaded.samples[m][i] =
          select_bytes(from.samples[m][row], weight_constants, from.selectors[m][i]);
    return loaded;
  }

  /// Returns the scaled distance between pixel `half` of square s and candidate `column` of row
  /// `row` (0 or 1). The distance is at most limit_, and equals limit_ if the pixel does not search
  /// the candidate. high, cross and low are sums of products of the planes; with joined planes, low
  /// is the joined sum.
  CUDAVISION_HOST_DEVICE int distance(int s, int half, int column, const Candidates& from,
                                      const CandidateRow& candidates, RowPair pair, int row,
                                      int high, int cross, int low) const {
    const int bias = from.row_bias.of(pair, row, half);
    const int candidate_high = candidates.high_norms[column],
              candidate_low = candidates.low_norms[column];
    const int pixel_high = high_norms_[s][half] + bias;
    if constexpr (Kind::joins_planes)
      return min_sum(high * a_.product_scale + candidate_high +
                         joined_rest(low, candidate_low, low_norms_[s][half], a_.joined_shift),
                     pixel_high, limit_);
    if constexpr (Kind::sample_bytes == 1)
      return min_sum(high * a_.product_scale + candidate_high, pixel_high, limit_);
    return min_sum(
        scaled_distance(high, cross, low, candidate_high, candidate_low, low_norms_[s][half],
                        a_.low_bits, a_.scale_log2, a_.product_scale),
        pixel_high, limit_);
  }

 private:
  /// Patches and norms of the lane's pixels, in the tile or in the reference frame.
  struct OwnPatches {
    const std::uint32_t* words;  ///< first word of the first pixel's patch, in the lane's row
    int rows;                    ///< distance between adjacent words of a row
    int plane_words;
    int first_row;     ///< first row of the patches that the lane holds
    int first_byte;    ///< position of the patches in their first words, in bytes
    const int* norms;  ///< norm of the first pixel's patch
    int norm_words;    ///< distance from the upper part of a norm to its lower part

    CUDAVISION_HOST_DEVICE OwnPatches(const NlMeansArguments& a, const LanePosition& position) {
      const int radius = a.search_radius, x = radius + position.x(), y = position.y(0);
      first_row = position.t();
      first_byte = x & 3;
      if (position.reference) {
        const ReferenceFrame<Kind> reference(a.shape.strips);
        words = position.reference + ((x >> 2) - (radius >> 2)) * reference.rows + y + first_row;
        rows = reference.rows;
        plane_words = reference.plane_words();
        norms = reinterpret_cast<const int*>(position.reference) + reference.norms() +
                reference.pixel(position.x(), y);
        norm_words = reference.pixels;
      } else {
        words = position.pixels + (x >> 2) * a.shape.rows + radius + y + first_row;
        rows = a.shape.rows;
        plane_words = a.shape.plane_words;
        norms = position.norms + x * a.shape.norm_rows + radius + y;
        norm_words = a.shape.norm_words();
      }
    }
  };

  CUDAVISION_HOST_DEVICE void take_patch(const OwnPatches& own, int s, int half) {
    const int below = 4 * s + pixel_y(8 * half);  // below the first pixel
    high_norms_[s][half] = own.norms[below];
    if (Kind::sample_bytes == 2)
      low_norms_[s][half] = own.norms[own.norm_words + below];
    CUDAVISION_UNROLL
    for (int p = 0; p < Kind::planes; ++p)
      CUDAVISION_UNROLL
    for (int row = 0; row < 4 * Kind::side; row += 4) {
      const std::uint32_t* const at = own.words + p * own.plane_words + below + row;
      CUDAVISION_UNROLL
      for (int word = 0; word < Kind::side; ++word)
        left_[s][p][2 * (row / 4 * Kind::side + word) + half] =
            bytes_from(at[word * own.rows], at[(word + 1) * own.rows], own.first_byte) &
            patch_mask(2 * a_.patch_radius + 1, row + own.first_row, word);
    }
  }

  const NlMeansArguments& a_;
  int limit_;  // upper limit of distances
  std::uint32_t left_[Kind::squares][Kind::planes][2 * Kind::words];
  int high_norms_[Kind::squares][2], low_norms_[Kind::squares][2];
};

/// Returns a lane's part of the weighted sum of a plane. `sum` is the lane's element of the plane's
/// second product. The weighted sum is the sum over the four lanes with equal g.
CUDAVISION_HOST_DEVICE inline std::uint32_t plane_part(int t, int sum) {
  const std::uint32_t value = t == 0   ? 1
                              : t == 1 ? digit_base
                              : t == 2 ? digit_base * digit_base
                                       : 0;
  return static_cast<std::uint32_t>(sum) * value;
}

/// Returns a lane's part of the sum of the weights, from its elements of second product 0.
CUDAVISION_HOST_DEVICE inline std::uint32_t weight_part(int t, int low_digits, int third_digit) {
  return t == digits ? static_cast<std::uint32_t>(low_digits) +
                           static_cast<std::uint32_t>(third_digit) * (digit_base * digit_base)
                     : 0;
}

}  // namespace cudavision::nlmeans
