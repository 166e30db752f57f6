// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Non-local means on the tensor cores: which lane of a warp holds what. All of this compiles for
// the host, too, where the tests put the lanes' parts together and compare the results with the
// CPU device.
//
// With X = Σ p·q over the samples of two patches, the sum of their squared differences is
// Σ p² + Σ q² − 2X. For the patches around 16 pixels and those around 8 candidates, all X are one
// product of matrices of bytes: row m of the left factor is the patch of pixel m, and column n of
// the right one is the patch of candidate n. A second product sums weights times samples: its left
// factor holds the weights of 16 pixels and 8 candidates, as four bytes each, which lie in the
// lanes as the first product leaves them. Column 2j of its right factor selects byte j of the
// weights and multiplies it by a byte of the candidate's sample; column 2j + 1 does so for another
// byte, or for 1, which gives the sum of the weights.
//
// Lane numbers are those of mma.m16n8k32 in the PTX manual, g = lane / 4 and t = lane % 4. A lane
// holds rows g and g + 8 of the left factor, column g of the right one, and rows g and g + 8 of
// columns 2t and 2t + 1 of the product. Along the inner dimension, words of four bytes follow each
// other in any order that is the same in both factors: lane t has rows t, t + 4… of the patch.

#include <cstdint>

#include "cuda/core/border.h"
#include "cuda/core/view.h"
#include "cuda/pixels/pixel_pack.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::nlmeans {

constexpr int product_warps = 8;  ///< of a block

/// The properties of a kernel that are fixed at compile time. It compares patches of up to 4·kSide
/// − 1 samples along each side, which cover kSide groups of four rows and kSide words of each row.
/// A sample of two bytes has two planes: the upper 8 bits, and those below them.
template <int kSide, int kChannels, int kSampleBytes>
struct ProductKind {
  static constexpr int side = kSide;
  static constexpr int channels = kChannels;
  static constexpr int sample_bytes = kSampleBytes;
  static constexpr int planes = channels * sample_bytes;
  static constexpr int words = side * side;  ///< of a lane, for one patch in one plane
  /// Words of a lane for both of its patches among 16 pixels, which stay in registers.
  static constexpr int left_words = 2 * words * planes;
  /// Squares of 4×4 pixels, one below the other, that a warp compares with a candidate at a
  /// time.
  static constexpr int squares = left_words <= 8 ? 3 : planes == 1 && side == 3 ? 2 : 1;
  /// Rows of candidates that a warp has in work at a time.
  static constexpr int rows_at_once = side == 2 && planes <= 3 ? 4 : 2;
  /// Second products: each handles two of the planes and the sum of the weights.
  static constexpr int products = (planes + 2) / 2;
  /// Blocks for whose registers a multiprocessor has room.
  static constexpr int resident_blocks = left_words > 50 || planes == 6 ? 1 : 2;
  /// The tile of a block, in pixels. Each warp denoises a column of it.
  static constexpr int width = 4 * product_warps;
  static constexpr int height = squares == 3 ? 48 : planes == 1 ? 32 : 16;
};

/// The measures of a tile in shared memory. A word is four neighbouring samples of a row. Words
/// that lie below each other follow each other in memory, so that the distances between the rows
/// that a lane reads are constants. Each plane has four copies, of which number c begins c samples
/// further to the right, so that each sample is the first one of a word.
struct ProductShape {
  int rows;          ///< the words of a column
  int copy_columns;  ///< columns of words in a copy
  int copy_words, plane_words;
  int candidate_columns, candidate_rows;
  int column_groups;  ///< groups of eight candidates along a row that a warp goes through

  /// The words of a block, without its table.
  constexpr int words(int planes, int sample_bytes) const {
    return planes * plane_words + sample_bytes * candidate_columns * candidate_rows;
  }
};

constexpr int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

template <class Kind>
constexpr ProductShape product_shape(int search_radius) {
  ProductShape shape{};
  shape.column_groups = (2 * search_radius + 4 + 7) / 8;
  shape.candidate_columns = Kind::width - 4 + 8 * shape.column_groups;
  shape.candidate_rows = round_up(Kind::height + 2 * search_radius, 4);
  // With these remainders, a lane's words of a right factor lie in other banks than the others'.
  shape.rows = round_up(shape.candidate_rows + 4 * Kind::side - 1 - 4, 8) + 4;
  shape.copy_columns = round_up(shape.candidate_columns / 4 + Kind::side - 2, 8) + 2;
  shape.copy_words = shape.copy_columns * shape.rows;
  shape.plane_words = 4 * shape.copy_words;
  return shape;
}

/// Returns the place, in a plane, of the word that begins at sample x of row y of the tile.
CUDAVISION_HOST_DEVICE inline int word_at(const ProductShape& shape, int x, int y) {
  return (x & 3) * shape.copy_words + (x >> 2) * shape.rows + y;
}

/// Returns a mask of the bytes of a patch's word `word` of row `row` that belong to the patch.
CUDAVISION_HOST_DEVICE inline std::uint32_t patch_mask(int patch, int row, int word) {
  const int bytes = row < patch ? patch - 4 * word : 0;
  return bytes <= 0 ? 0 : bytes >= 4 ? ~0u : (1u << (8 * bytes)) - 1;
}

/// Returns the pixel, in its square, of row m of the left factor.
CUDAVISION_HOST_DEVICE constexpr int pixel_x(int m) {
  return m % 4;
}
CUDAVISION_HOST_DEVICE constexpr int pixel_y(int m) {
  return m / 4;
}

/// Exceeds the scaled distance of any patch, even after 2^25 are taken away, and twice of it fits
/// 31 bits. It is added where a candidate is outside the search of a pixel.
constexpr int outside_search = 1 << 29;

/// Returns what is added to the distances of a candidate in the given column, counted from the
/// first one that the square needs, from a pixel in column x of the square.
CUDAVISION_HOST_DEVICE inline int search_bias(int candidate, int x, int search_radius) {
  return static_cast<unsigned>(candidate - x) <= static_cast<unsigned>(2 * search_radius)
             ? 0
             : outside_search;
}

/// Which pixels of a square search a pair of rows of candidates.
enum class RowPair {
  none,
  first,   ///< 0 and 1, counted from the first row that the square needs
  middle,  ///< any rows but the first and the last ones
  all,     ///< rows that all pixels search
  last,    ///< the last two that the square needs
};

/// Returns true if no pixel in half `half` of a lane's searches a pair's rows.
CUDAVISION_HOST_DEVICE constexpr bool skips(RowPair pair, int half) {
  return pair == RowPair::none || pair == (half == 0 ? RowPair::last : RowPair::first);
}

/// Lanes hold pixels in rows g / 4 and g / 4 + 2 of the square. Of each pair of rows in `middle`,
/// either all lanes' pixels search both, or those of half 1 in row 3 do not search the first row
/// of the pair (at the top), or those of half 0 in row 0 not the second one (at the bottom).
struct RowBias {
  int top;     ///< added for lanes with pixels in rows 1 and 3
  int bottom;  ///< added for lanes with pixels in rows 0 and 2

  CUDAVISION_HOST_DEVICE explicit RowBias(int g)
      : top(g / 4 == 1 ? outside_search : 0), bottom(g / 4 == 0 ? outside_search : 0) {}

  /// Returns the bias of row `row` of the pair that begins in row `first`. Not for halves that are
  /// skipped.
  CUDAVISION_HOST_DEVICE int of(RowPair pair, int first, int row, int half,
                                int search_radius) const {
    if (row == 0 && half == (pair == RowPair::first ? 0 : 1) && pair != RowPair::all &&
        pair != RowPair::last)
      return pair == RowPair::first || first == 2 ? top : 0;
    if (row == 1 && half == (pair == RowPair::last ? 1 : 0) && pair != RowPair::all &&
        pair != RowPair::first)
      return pair == RowPair::last || first == 2 * search_radius ? bottom : 0;
    return 0;
  }
};

/// Selects, for a second product, a byte of the word of a candidate's samples (0 to 3) or the
/// constant 1 (number 4), and puts it in place of byte `place` of the candidate's weight.
CUDAVISION_HOST_DEVICE constexpr std::uint32_t weight_selector(int byte, int place) {
  return (0x5555u & ~(0xfu << (4 * place))) | static_cast<std::uint32_t>(byte) << (4 * place);
}
/// The second operand of these selections. Byte 4 is 1, and byte 5 is 0.
constexpr std::uint32_t weight_of_one = 1;

/// A sum of squares, or of their products: Σ h² · 2^(2e) + Σ l², with the mixed ones, is split so
/// that both parts fit 32 bits. Samples are h·2^e + l.
struct Norm {
  std::uint32_t high;  ///< the norm >> 2e
  std::uint32_t low;   ///< the other bits
};

template <class Kind>
CUDAVISION_HOST_DEVICE inline Norm norm_of(std::uint32_t high_squares, std::uint32_t products,
                                           std::uint32_t low_squares, int low_bits) {
  if (Kind::sample_bytes == 1)
    return {high_squares, 0};
  const std::uint64_t rest =
      (std::uint64_t{products} << (low_bits + 1)) + std::uint64_t{low_squares};
  return {high_squares + static_cast<std::uint32_t>(rest >> (2 * low_bits)),
          static_cast<std::uint32_t>(rest) & ((1u << (2 * low_bits)) - 1)};
}

/// Returns (Σ (p − q)²) >> 2e, where e is the number of bits in the lower plane, times scale, and
/// less the upper part of the pixel's norm. The arguments are sums of products of the planes, and
/// norms of which the upper parts have been multiplied by scale. The shifts round down and keep the
/// sign, so that it is exact to take them one after the other. product_scale is −2 · scale, which
/// the compiler must not know, or it would need one more instruction.
CUDAVISION_HOST_DEVICE inline int scaled_distance(int high, int mixed, int low, int candidate_high,
                                                  int candidate_low, int pixel_low, int low_bits,
                                                  int scale, int product_scale) {
  const int rest = (low * -2 + candidate_low + pixel_low) >> low_bits;
  return ((mixed * -2 + rest) >> low_bits) * scale + (high * product_scale + candidate_high);
}

/// Returns the denoised sample of a channel. sums has the sums of the weights times the samples of
/// each plane, and then that of the weights.
template <class Kind>
CUDAVISION_HOST_DEVICE inline std::uint32_t mean_of(const std::uint32_t (&sums)[Kind::planes + 1],
                                                    int channel, int low_bits) {
  const std::uint32_t weight = sums[Kind::planes];
  if (Kind::sample_bytes == 1)
    return (sums[channel] + weight / 2) / weight;
  const std::uint64_t sum =
      (std::uint64_t{sums[2 * channel]} << low_bits) + sums[2 * channel + Kind::sample_bytes - 1];
  return static_cast<std::uint32_t>((sum + weight / 2) / weight);
}

/// Returns the kind of the pair of rows that begins at row `row` (even), counted from the first one
/// that a square needs.
CUDAVISION_HOST_DEVICE constexpr RowPair row_pair(int row, int search_radius) {
  const int last = 2 * search_radius + 2;
  return row < 0 || row > last         ? RowPair::none
         : row == 0                    ? RowPair::first
         : row == last                 ? RowPair::last
         : row == 2 || row == last - 2 ? RowPair::middle
                                       : RowPair::all;
}

}  // namespace cudavision::nlmeans
