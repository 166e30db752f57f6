// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Per-pixel arithmetic of slanted surfaces, for both backends. mapstages.h defines the results.

#include <cstdint>

#include "cuda/sgm/arithmetic.h"

namespace cudavision::sgm {

constexpr int max_sharpening = 4;

struct SharpeningSums {
  int n = 0, e = 0, g = 0, eg = 0, gg = 0;
};

/// Returns the map value after Sharpen. |e| ≤ 4080 and |g| ≤ 2040, so A and 7·B fit 32 bits: |A| ≤
/// 81·4080·2040 and B ≤ 81·2040² + 64·81. m is the number of odd k ≤ 7 with |A| ≥ k·B / 32.
CUDAVISION_HOST_DEVICE inline std::uint16_t sharpened(int v, const SharpeningSums& sums, int top) {
  const int a = sums.n * sums.eg - sums.e * sums.g;
  const int b = sums.n * sums.gg - sums.g * sums.g + 64 * sums.n * sums.n;
  const auto magnitude = static_cast<std::uint32_t>(a < 0 ? -a : a);
  int m = 0;
  for (std::uint32_t k = 1; k < 2 * max_sharpening; k += 2)
    m += magnitude >= (k * static_cast<std::uint32_t>(b) + 31) >> 5;
  const int lower = v > m ? v - m : 0, higher = v + m < top ? v + m : top;
  return static_cast<std::uint16_t>(a > 0 ? lower : higher);
}

CUDAVISION_HOST_DEVICE inline bool is_one_surface(std::uint16_t before, std::uint16_t after) {
  return before != unknown && after != unknown && distance_of(before, after) <= 32;
}

/// A filled pixel before clamping: base + dividend div divisor.
struct FilledNumber {
  std::uint32_t dividend = 0, divisor = 1;
  int base = 0;
  bool is_limited = false;

  CUDAVISION_HOST_DEVICE std::uint16_t within(int top) const {
    const int number = base + static_cast<int>(dividend / divisor);
    const int limited = number < 0 ? 0 : number > top ? top : number;
    return static_cast<std::uint16_t>(is_limited ? limited : number);
  }
};

/// Map values are below 2^14 and rows have fewer than 2^16 pixels, so 32 bits suffice.
CUDAVISION_HOST_DEVICE inline FilledNumber interpolated(int before, int after, int to_before,
                                                        int to_after) {
  const int length = to_before + to_after;
  return {static_cast<std::uint32_t>(2 * (before * to_after + after * to_before) + length),
          static_cast<std::uint32_t>(2 * length), 0, false};
}

/// The slope of a surface next to a run of unknown pixels. Towards the run, map values grow by
/// sum / (count·step) per column. count is 0 if the slope is unknown.
struct Slope {
  int sum = 0, count = 0, step = 8;
};

/// Returns the slope at the known pixel (x, y). outwards is −1 if the run begins after the pixel,
/// and 1 if it ends before the pixel. Loads all map values first, so that GPU loads overlap.
CUDAVISION_HOST_DEVICE inline Slope slope_at(const std::uint16_t* map, int width, int height, int x,
                                             int y, int outwards) {
  constexpr int rows = 5, columns = 5;  // columns at the distances 0, 4, 8, 16 and 32
  int numbers[columns][rows];
  CUDAVISION_UNROLL
  for (int i = 0; i < columns; ++i) {
    CUDAVISION_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int column = x + outwards * (i == 0 ? 0 : 2 << i), row = y - 8 + 4 * j;
      const bool inside = column >= 0 && column < width && row >= 0 && row < height;
      numbers[i][j] = inside ? map[static_cast<std::int64_t>(row) * width + column] : unknown;
    }
  }
  Slope slope;
  CUDAVISION_UNROLL
  for (int i = 2; i < columns; ++i) {
    Slope at_step{0, 0, 2 << i};
    CUDAVISION_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int v0 = numbers[0][j], v1 = numbers[i - 1][j], v2 = numbers[i][j];
      const bool is_straight =
          v0 != unknown && v1 != unknown && v2 != unknown && distance_of(v0 + v2, 2 * v1) <= 8;
      at_step.sum += is_straight ? v0 - v2 : 0;
      at_step.count += is_straight ? 1 : 0;
    }
    if (at_step.count > 0)  // the loop ends with the largest step
      slope = at_step;
  }
  return slope;
}

/// Extrapolates from the map value v over `distance` columns. |sum| is below 2^17, so adding 2^19
/// times the divisor fits 32 bits and makes the dividend positive.
CUDAVISION_HOST_DEVICE inline FilledNumber extrapolated(int v, const Slope& slope, int distance) {
  if (slope.count == 0)
    return {0, 1, v, false};
  const int run = slope.count * slope.step, limit = 4 * slope.step;
  const int rise = 2 * slope.sum * (distance < limit ? distance : limit) + run;
  constexpr int added = 1 << 19;
  return {static_cast<std::uint32_t>(rise + 2 * run * added), static_cast<std::uint32_t>(2 * run),
          v - added, true};
}

constexpr int smoothing_pairs = 12;
constexpr int smoothing_passes = 3;
CUDAVISION_HOST_DEVICE constexpr int smoothing_step(int pass) {
  return 8 >> pass;
}

/// Returns how far the mean of a pair may be from its middle pixel, in sixteenths.
CUDAVISION_HOST_DEVICE constexpr int smoothing_cut(int confidence) {
  const int cut = 18 - (confidence >> 4);
  return cut < 8 ? 8 : cut;
}

/// Returns a factor with x div 2cut = x·factor >> 18 for 0 ≤ x ≤ 64·(2cut + 1) and cut from 8 to
/// 18: x·factor / 2^18 is too large by at most x / 2^18 < 1/36. factor and x fit 16 unsigned bits.
CUDAVISION_HOST_DEVICE constexpr std::uint32_t smoothing_factor(int cut) {
  return (1u << 18) / (2 * static_cast<std::uint32_t>(cut)) + 1;
}

}  // namespace cudavision::sgm
