// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Levels of 8 bits by half the work of interpolated(). The tiles to the left and to the right of a
// pixel have weights that are multiples of 1/(2 · tile size). An estimate therefore begins with
// exact sums of products of whole numbers, which are single instructions. It differs from the
// number that interpolated() rounds by a known bound, so it has the same level unless a half lies
// nearby. Such an estimate is in doubt, and its level must come from interpolated().
//
// The bound. In units of 2^-17, of which half of the last place of a number from 128 to 256 is one,
// interpolated() differs from the true level at its own weights by no more than
//   3.5  of a sum along x: its two products 1 + 0.5, their sum 1, and 1 - right 1
//   3.5  of the sum along y: in the same way
// and an estimate from the true level at its own weights by no more than
//   2    of the rounded 1/(sum of the weights along x)
//   6    of the weights along y: each 2^-39, times 2^23 and, of the upper one, also the bias of it
//   2    of the offset, rounded twice
//   4    of two fused operations between numbers below 512
// Together this is less than 24. The weights along y are those of interpolated(), and a difference
// of the weights along x counts 255 times.

#include "cuda/clahe/arithmetic.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::clahe {

/// The numbers that all estimates of a picture use.
struct EstimateScale {
  int factor = 0;        ///< of the weights along x, or 0 if tiles are too wide for estimates
  float inverse = 0.0f;  ///< 1 / (sum of the weights along x)
  float offset = 0.0f;
  /// The estimates have 15 bits after the point. An estimate is in doubt if all of these bits are 0
  /// except perhaps for the lowest uncertain_bits[cell] ones.
  std::uint8_t uncertain_bits[Tiles::range.max + 1] = {};

  EstimateScale() = default;
  explicit EstimateScale(const TiledAxis& x);
};

/// The weight, times 2·tile_size, of the tile to the right of a pixel in a cell.
CUDAVISION_HOST_DEVICE inline int whole_right_weight(const TiledAxis& x, int pixel, int cell) {
  return 2 * pixel + x.tile_size - 2 * x.tile_size * cell;
}

/// Two weights as the halves of a word: of the tile to the left in the low half, and of the one to
/// the right in the high half.
CUDAVISION_HOST_DEVICE inline std::uint32_t weight_pair(int left, int right) {
  return static_cast<std::uint32_t>(left) + (static_cast<std::uint32_t>(right) << 16);
}

/// The weights of neighbouring columns. Between one of them and the next, the tile to the right
/// gains what the other one loses.
struct WeightPairs {
  std::uint32_t first;  ///< of a column in a cell
  std::uint32_t step;   ///< added for each column to the right
  std::uint32_t wrap;   ///< added in the next cell

  CUDAVISION_HOST_DEVICE WeightPairs(const TiledAxis& x, const EstimateScale& scale, int pixel,
                                     int cell) {
    const int sum = 2 * x.tile_size * scale.factor;
    const int right = whole_right_weight(x, pixel, cell) * scale.factor;
    first = weight_pair(sum - right, right);
    step = weight_pair(-2 * scale.factor, 2 * scale.factor);
    wrap = weight_pair(sum, -sum);
  }
};

inline EstimateScale::EstimateScale(const TiledAxis& x) {
  constexpr int max_sum = 32896;  // sums of products with levels stay below 2^23
  constexpr int all_bits = 15;
  factor = max_sum / (2 * x.tile_size);
  if (factor != 0) {
    inverse = 1.0f / static_cast<float>(2 * x.tile_size * factor);
    offset = 256.5f - level_bias * inverse;
  }
  for (int cell = 0; cell < x.cells(); ++cell) {
    double difference = 0;
    const int end = x.cell_begin(cell + 1);
    for (int pixel = x.cell_begin(cell); pixel < end; ++pixel)
      difference = std::fmax(difference,
                             std::fabs(x.weight_in_cell(pixel, cell) -
                                       whole_right_weight(x, pixel, cell) / (2.0 * x.tile_size)));
    // In units of the last of these bits, of which 24 · 2^-17 are 6. An estimate lies in the middle
    // of what is uncertain.
    const double bound = 6 + 255 * 32768.0 * difference;
    int bits = 4;
    while (bits < all_bits && 1 << (bits - 1) < bound)
      ++bits;
    uncertain_bits[cell] = static_cast<std::uint8_t>(factor != 0 ? bits : all_bits);
  }
}

/// Which estimates are in doubt.
struct EstimateDoubt {
  float offset;        ///< of the estimates
  std::uint32_t mask;  ///< bits that are all 0 in an estimate in doubt

  CUDAVISION_HOST_DEVICE EstimateDoubt(const EstimateScale& scale, int uncertain_bits)
      : offset(scale.offset + static_cast<float>(1 << uncertain_bits) * 0x1p-16f),
        mask(0x7fffu & ~((1u << uncertain_bits) - 1)) {}

  CUDAVISION_HOST_DEVICE bool about(std::uint32_t estimate) const { return (estimate & mask) == 0; }
};

/// The weights along y.
struct alignas(8) RowWeights {
  float upper, lower;
};

/// Returns them divided by the sum of those along x.
CUDAVISION_HOST_DEVICE inline RowWeights estimate_row(const EstimateScale& scale,
                                                      float lower_weight) {
  const float lower = lower_weight * scale.inverse;
  return {scale.inverse - lower, lower};
}

/// Returns the bits of a number between 256 and 512. Those from bit 15 to bit 22 are the level,
/// unless the estimate is in doubt. quad has the levels of the upper tiles, then of the lower ones,
/// and of these first the left one.
CUDAVISION_HOST_DEVICE inline std::uint32_t estimate(std::uint32_t quad, std::uint32_t weights,
                                                     const RowWeights& row, float offset) {
  const float above = float_of_bits(dot_low_bytes(weights, quad, level_bias_bits));
  const float below = float_of_bits(dot_high_bytes(weights, quad, level_bias_bits));
  return bits_of_float(fused(below, row.lower, fused(above, row.upper, offset)));
}

}  // namespace cudavision::clahe
