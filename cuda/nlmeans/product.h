// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Non-local means on the tensor cores: which lane holds which element. Also built for host tests.
//
// With X = Σ p·q over the samples of two patches, the sum of their squared differences is Σ p² + Σ
// q² − 2X. For the patches around 16 pixels and 8 candidates, one product of byte matrices computes
// all X: row m of the left factor is the patch of pixel m, column n of the right factor the patch
// of candidate n.
//
// A second product sums the weighted samples. Its left factor holds the weights of 16 pixels and 8
// candidates, as words of three digits, in the lanes that computed them. Columns 2d and 2d + 1 of
// its right factor multiply digit d of the weights by the samples of two planes. The last two
// columns sum the weights.
//
// core/matrix_product.cuh defines g, t and the elements of a lane. Both factors may permute the
// words of the inner dimension in the same way: lane t has rows t, t + 4… of the patch.

#include <cstdint>
#include <type_traits>

#include "cuda/core/border.h"
#include "cuda/core/division.h"
#include "cuda/pixels/pixel_pack.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::nlmeans {

constexpr int product_warps = 8;  ///< warps per block

/// Compile-time properties of a kernel for patches of up to 4·kSide − 1 samples per side, which are
/// stored as kSide groups of four rows with kSide words. Samples of two bytes are split into two
/// planes: the upper 8 bits, and the lower bits.
template <int kSide, int kChannels, int kSampleBytes, bool kOneSquare = false>
struct ProductKind {
  using OneSquare = ProductKind<kSide, kChannels, kSampleBytes, true>;
  static constexpr int side = kSide;
  static constexpr int channels = kChannels;
  static constexpr int sample_bytes = kSampleBytes;
  static constexpr int planes = channels * sample_bytes;
  static constexpr int words = side * side;  ///< words per lane for one patch in one plane
  /// Words that a lane keeps in registers: the patches of its two pixels, in all planes.
  static constexpr int left_words = 2 * words * planes;
  /// Number of vertically adjacent 4×4 squares of pixels that a warp compares with a candidate.
  static constexpr int squares = kOneSquare || left_words > 18 || channels > 1 ? 1
                                 : left_words <= 8                             ? 3
                                                                               : 2;
  /// Minimum search radius: all squares of a warp must have some searched rows in common.
  static constexpr int min_search_radius = squares == 1 ? 1 : 2 * squares;
  /// True if 32 bits suffice to add the products of both planes before the norms are added.
  static constexpr bool joins_planes =
      sample_bytes == 2 && channels * (4 * side - 1) * (4 * side - 1) <= 49;
  static constexpr int products = (planes + 1) / 2;
  static constexpr int resident_blocks = left_words > 50 || planes == 6 ? 1 : 2;
  /// Size of a strip in pixels. Each warp processes one column of squares of the strip.
  static constexpr int strip_width = 4 * product_warps;
  static constexpr int strip_height = 4 * squares;
  static constexpr int tile_strips = planes == 1 && squares == 1 ? 8 : 4;
};

/// Layout of a tile in shared memory. A word is four adjacent samples of a row. Words are stored
/// column by column, so that the distances between a lane's rows are constants. Each plane has four
/// copies, shifted by 0 to 3 samples, so that every sample is the first of a word in some copy.
struct ProductShape {
  int strips;        ///< maximum number of strips in the tile
  int rows;          ///< words per column
  int copy_columns;  ///< columns of words in a copy
  int copy_words;    ///< words from one copy to the next
  int plane_words;
  int candidate_columns;
  int norm_rows;      ///< norms per column of candidates
  int column_groups;  ///< groups of eight candidates in a row for one warp

  /// Word offset of a dummy column of norms, in other banks, for candidates that are not searched.
  CUDAVISION_HOST_DEVICE constexpr int dummy_norms() const {
    return candidate_columns * norm_rows + 2;
  }
  CUDAVISION_HOST_DEVICE constexpr int norm_words() const { return dummy_norms() + norm_rows; }
  /// Words of a tile without its table. The last seven words hold ProductTile.
  constexpr int words(int planes, int sample_bytes) const {
    return planes * plane_words + sample_bytes * norm_words() + 7;
  }
};

/// Data of the denoised frame that a block stores while the tile holds other frames: the patches
/// around its pixels, their norms, and the sums over the previous frames, column by column.
template <class Kind>
struct ReferenceFrame {
  static constexpr int columns = Kind::strip_width / 4 + Kind::side + 1;
  int rows, pixel_rows, pixels;

  CUDAVISION_HOST_DEVICE constexpr explicit ReferenceFrame(int strips)
      : rows(patch_rows(strips)),
        pixel_rows(Kind::strip_height * strips),
        pixels(Kind::strip_width * pixel_rows) {}

  CUDAVISION_HOST_DEVICE static constexpr int patch_rows(int strips) {
    return Kind::strip_height * strips + 4 * Kind::side - 1;
  }
  CUDAVISION_HOST_DEVICE constexpr int plane_words() const { return columns * rows; }
  /// Index of a pixel in the norms and the sums.
  CUDAVISION_HOST_DEVICE constexpr int pixel(int x, int y) const { return x * pixel_rows + y; }
  CUDAVISION_HOST_DEVICE constexpr int norms() const { return Kind::planes * plane_words(); }
  CUDAVISION_HOST_DEVICE constexpr int sums() const {
    return norms() + Kind::sample_bytes * pixels;
  }
  CUDAVISION_HOST_DEVICE constexpr int words() const {
    return sums() + (Kind::planes + 1) * pixels;
  }
};

template <class Kind>
CUDAVISION_HOST_DEVICE constexpr int candidate_rows(int search_radius, int strips) {
  return round_up(Kind::strip_height * strips + 2 * search_radius, 4);
}

template <class Kind>
CUDAVISION_HOST_DEVICE constexpr int sample_rows(int search_radius, int strips) {
  return candidate_rows<Kind>(search_radius, strips) + 4 * Kind::side - 1;
}

template <class Kind>
constexpr ProductShape product_shape(int search_radius, int strips) {
  ProductShape shape{};
  shape.strips = strips;
  shape.column_groups = (2 * search_radius + 4 + 7) / 8;
  shape.candidate_columns = Kind::strip_width - 4 + 8 * shape.column_groups;
  // With these remainders, lanes read the words of a right factor, and norms, from different banks.
  shape.norm_rows = round_up(candidate_rows<Kind>(search_radius, strips) - 4, 8) + 4;
  shape.rows = round_up(sample_rows<Kind>(search_radius, strips) - 4, 8) + 4;
  shape.copy_columns = shape.candidate_columns / 4 + Kind::side;
  shape.copy_words = round_up(shape.copy_columns * shape.rows - 8, 16) + 8;
  shape.plane_words = 4 * shape.copy_words;
  return shape;
}

/// Index in a plane of the word that begins at sample x of row y of the tile.
CUDAVISION_HOST_DEVICE inline int word_at(const ProductShape& shape, int x, int y) {
  return (x & 3) * shape.copy_words + (x >> 2) * shape.rows + y;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t patch_mask(int patch, int row, int word) {
  const int bytes = row < patch ? patch - 4 * word : 0;
  return bytes <= 0 ? 0 : bytes >= 4 ? ~0u : (1u << (8 * bytes)) - 1;
}

/// Column and row of a pixel in its square. m is the pixel's row in the left factor.
CUDAVISION_HOST_DEVICE constexpr int pixel_x(int m) {
  return m % 4;
}
CUDAVISION_HOST_DEVICE constexpr int pixel_y(int m) {
  return m / 4;
}

/// Added to a distance if a pixel does not search the candidate, so that the weight is 0. Exceeds
/// all scaled distances even after 2^25 is subtracted; twice this value fits into 31 bits.
constexpr int outside_search = 1 << 29;

/// Returns true if a pixel in column x of a square searches candidate `candidate` of the square.
CUDAVISION_HOST_DEVICE inline bool searches(int x, int candidate, int search_radius) {
  return static_cast<unsigned>(candidate - x) <= static_cast<unsigned>(2 * search_radius);
}

/// Classes of a pair of rows of candidates: which pixels of a square search it. Half 0 are the
/// pixels in rows 0 and 1 of the square, half 1 the pixels in rows 2 and 3.
enum class RowPair {
  none,
  first,   ///< first pair that the square needs; only half 0 searches
  second,  ///< row 3 of the square does not search the first row of the pair
  all,
  next_to_last,     ///< row 0 of the square does not search the second row of the pair
  last,             ///< last pair that the square needs; only half 1 searches
  second_of_three,  ///< second and next_to_last at once
};

CUDAVISION_HOST_DEVICE constexpr bool skips(RowPair pair, int half) {
  return pair == RowPair::none || pair == (half == 0 ? RowPair::last : RowPair::first);
}

/// Bias of distances that makes weights 0 if a row of pixels does not search a row of candidates.
struct RowBias {
  int top;  ///< outside_search in lanes with pixels in rows 1 and 3; 0 in lanes with rows 0 and 2

  RowBias() = default;
  CUDAVISION_HOST_DEVICE explicit RowBias(int g) : top(g / 4 == 1 ? outside_search : 0) {}

  /// Bias for row 0 or 1 of a pair. The half must search the pair.
  CUDAVISION_HOST_DEVICE int of(RowPair pair, int row, int half) const {
    const RowPair top_pair = half == 0 ? RowPair::first : RowPair::second;
    const RowPair bottom_pair = half == 0 ? RowPair::next_to_last : RowPair::last;
    const bool three = pair == RowPair::second_of_three;
    if (row == 0)
      return pair == top_pair || (three && half == 1) ? top : 0;
    return pair == bottom_pair || (three && half == 0) ? outside_search - top : 0;
  }
};

/// Base of the digits of weights. Fits into a byte, so that a right factor can contain it.
constexpr std::uint32_t digit_base = 255;
constexpr int digits = 3;

/// Digits of a weight, one per byte. The largest weight (one searched pixel) is (2^31 - 1) / 255.
constexpr std::uint32_t weight_digits(std::uint32_t weight) {
  return weight % digit_base | weight / digit_base % digit_base << 8 |
         weight / (digit_base * digit_base) << 16;
}

/// Returns the selector for the bytes of the right factor in one column of the second products.
/// These bytes multiply the digits of a candidate's weight. Columns 2d and 2d + 1 multiply digit d
/// by the samples of two planes. In second product 0, columns 6 and 7 sum the weights: column 6
/// adds the first digit and 255 times the second digit, and column 7 adds the third digit.
template <class Kind>
CUDAVISION_HOST_DEVICE constexpr std::uint32_t weight_selector(int product, int column,
                                                               int sample) {
  const int digit = column / 2, plane = 2 * product + column % 2;
  if (digit < digits)
    return plane < Kind::planes ? (0x4444u & ~(0xfu << (4 * digit))) |
                                      static_cast<std::uint32_t>(sample) << (4 * digit)
                                : 0x4444u;
  return product > 0 ? 0x4444u : column == 2 * digits ? 0x4465u : 0x4544u;
}
/// Second operand of the selections: bytes 4, 5 and 6 are 0, 1 and the base.
constexpr std::uint32_t weight_constants = digit_base << 16 | 1u << 8;

/// A sum of squared samples, split into two words. e is the number of bits in the lower plane.
struct Norm {
  std::uint32_t high;  ///< norm >> 2e
  std::uint32_t low;   ///< remaining bits
};

template <class Kind>
using SquareSum = std::conditional_t<Kind::sample_bytes == 1, std::uint32_t, std::uint64_t>;

template <class Kind>
CUDAVISION_HOST_DEVICE inline Norm norm_of(SquareSum<Kind> squares, int low_bits) {
  return {static_cast<std::uint32_t>(squares >> (2 * low_bits)),
          static_cast<std::uint32_t>(squares) & ((1u << (2 * low_bits)) - 1)};
}

/// With joined planes, twice the products minus the lower parts of the norms is at most
/// joined_limit << 2e. Adding joined_limit << 2e prevents unsigned underflow.
constexpr int joined_limit = 200 << 8;

/// Returns ((Σ (p − q)²) >> 2e) · 2^scale_log2 minus the upper part of the pixel's norm; e is the
/// number of bits in the lower plane. high, cross and low are sums of products of the planes. The
/// upper parts of the norms are scaled by 2^scale_log2. Shifts round down, so shifting in steps is
/// exact. product_scale is −2 · 2^scale_log2; a constant would cost one more instruction.
CUDAVISION_HOST_DEVICE inline int scaled_distance(int high, int cross, int low, int candidate_high,
                                                  int candidate_low, int pixel_low, int low_bits,
                                                  int scale_log2, int product_scale) {
  const int rest = (low * -2 + candidate_low + pixel_low) >> low_bits;
  return (((cross * -2 + rest) >> low_bits) << scale_log2) +
         (high * product_scale + candidate_high);
}

/// Returns the contribution of the lower parts of the norms and of the lower planes' products, if
/// planes are joined. `joined` is (cross << e) + low; candidate_low includes joined_limit << 2e.
/// joined_shift is 2e − scale_log2, which keeps some bits below the distance.
CUDAVISION_HOST_DEVICE inline int joined_rest(int joined, int candidate_low, int pixel_low,
                                              int joined_shift) {
  const std::uint32_t rest = static_cast<std::uint32_t>(joined) * ~1u + candidate_low +
                             static_cast<std::uint32_t>(pixel_low);
  return static_cast<int>(rest >> joined_shift);
}

/// Returns min(x + y, limit). From compute capability 9.0 on, this is a single instruction, which
/// the compiler does not generate from the expression.
CUDAVISION_HOST_DEVICE inline int min_sum(int x, int y, int limit) {
#ifdef __CUDA_ARCH__
  return __viaddmin_s32(x, y, limit);
#else
  return x + y < limit ? x + y : limit;
#endif
}

/// sums holds the weighted sum of each plane, then the sum of the weights.
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

/// Class of a pair of rows, one of the radius + 2 pairs of a square. In pair_from_top(), number 0
/// is the first pair of the square; in pair_to_bottom(), number 0 is the last pair but one.
CUDAVISION_HOST_DEVICE constexpr RowPair pair_from_top(int number) {
  return number < 0    ? RowPair::none
         : number == 0 ? RowPair::first
         : number == 1 ? RowPair::second
                       : RowPair::all;
}
CUDAVISION_HOST_DEVICE constexpr RowPair pair_to_bottom(int number) {
  return number < 0    ? RowPair::all
         : number == 0 ? RowPair::next_to_last
         : number == 1 ? RowPair::last
                       : RowPair::none;
}

}  // namespace cudavision::nlmeans
