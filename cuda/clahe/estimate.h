// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Estimates 8-bit levels with half the work of interpolated(). The weights along x are multiples of
// 1/(2 · tile size), so an estimate begins with exact integer dot products, which are single
// instructions. The difference between an estimate and the unrounded result of interpolated() has a
// known bound. Both round to the same level, unless the estimate is within this bound of a
// half-integer. The estimate is then in doubt, and interpolated() must compute the level.
//
// The bound is in units of 2^-17, half a unit in the last place of a number from 128 to 256. The
// unrounded result of interpolated() differs from the exact level at its own weights by at most
//   3.5  from the sum along x: 1 + 0.5 for its products, 1 for adding them, 1 for 1 - right
//   3.5  from the sum along y: the same terms
// and an estimate differs from the exact level at its own weights by at most
//   2    from the rounded 1/(sum of the weights along x)
//   6    from the weights along y: each 2^-39, times 2^23, and the bias of the upper weight
//   2    from the offset, which is rounded twice
//   4    from two fused operations on numbers below 512
// The sum is less than 24. Both methods use the same weights along y. A difference d between their
// weights along x changes the level by up to 255·d.

#include "cuda/clahe/arithmetic.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::clahe {

struct EstimateScale {
  int factor = 0;        ///< scales the weights along x; 0 if tiles are too wide for estimates
  float inverse = 0.0f;  ///< 1 / (sum of the weights along x)
  float offset = 0.0f;
  /// Estimates have 15 fraction bits. An estimate is in doubt if all fraction bits above the lowest
  /// uncertain_bits[cell] are 0.
  std::uint8_t uncertain_bits[Tiles::range.max + 1] = {};

  EstimateScale() = default;
  explicit EstimateScale(const TiledAxis& x);
};

/// Weight of the right tile for a pixel in a cell, times 2·tile_size.
CUDAVISION_HOST_DEVICE inline int whole_right_weight(const TiledAxis& x, int pixel, int cell) {
  return 2 * pixel + x.tile_size - 2 * x.tile_size * cell;
}

/// Two weights in one word: the left tile in the low half, the right tile in the high half.
CUDAVISION_HOST_DEVICE inline std::uint32_t weight_pair(int left, int right) {
  return static_cast<std::uint32_t>(left) + (static_cast<std::uint32_t>(right) << 16);
}

/// The weight pairs of adjacent columns. The two weights of a pair add up to a constant.
struct WeightPairs {
  std::uint32_t first;  ///< of column `pixel`, which is in `cell`
  std::uint32_t step;   ///< added for each column to the right
  std::uint32_t wrap;   ///< added for columns in the next cell

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
  constexpr int max_sum = 32896;  // dot products with levels stay below 2^23
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
    // 24 · 2^-17 is 6 units of the last fraction bit. The bound holds on both sides of an estimate.
    const double bound = 6 + 255 * 32768.0 * difference;
    int bits = 4;
    while (bits < all_bits && 1 << (bits - 1) < bound)
      ++bits;
    uncertain_bits[cell] = static_cast<std::uint8_t>(factor != 0 ? bits : all_bits);
  }
}

struct EstimateDoubt {
  float offset;        ///< added to each estimate
  std::uint32_t mask;  ///< the estimate is in doubt if all these bits are 0

  CUDAVISION_HOST_DEVICE EstimateDoubt(const EstimateScale& scale, int uncertain_bits)
      : offset(scale.offset + static_cast<float>(1 << uncertain_bits) * 0x1p-16f),
        mask(0x7fffu & ~((1u << uncertain_bits) - 1)) {}

  CUDAVISION_HOST_DEVICE bool about(std::uint32_t estimate) const { return (estimate & mask) == 0; }
};

struct alignas(8) RowWeights {
  float upper, lower;
};

/// The weights along y, divided by the sum of the weights along x.
CUDAVISION_HOST_DEVICE inline RowWeights estimate_row(const EstimateScale& scale,
                                                      float lower_weight) {
  const float lower = lower_weight * scale.inverse;
  return {scale.inverse - lower, lower};
}

/// Returns the bit pattern of a float from 256 to 512. Bits 15 to 22 are the level, unless the
/// estimate is in doubt. quad holds the levels of the four tiles, as in Quad.
CUDAVISION_HOST_DEVICE inline std::uint32_t estimate(std::uint32_t quad, std::uint32_t weights,
                                                     const RowWeights& row, float offset) {
  const float above = float_of_bits(dot_low_bytes(weights, quad, level_bias_bits));
  const float below = float_of_bits(dot_high_bytes(weights, quad, level_bias_bits));
  return bits_of_float(fused(below, row.lower, fused(above, row.upper, offset)));
}

}  // namespace cudavision::clahe
