// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A noise level and its average over time.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::noise {

/// Standard deviation and variance of the noise, for levels of 8 bits.
struct Level {
  static constexpr int per_level = 16;

  std::uint32_t variance = 0;   ///< in 1/256 of a squared level
  std::uint32_t deviation = 0;  ///< √variance, rounded down; in 1/16 of a level
};

/// Returns √number, rounded down, for numbers below 2^24.
CUDAVISION_HOST_DEVICE inline std::uint32_t integer_root(std::uint32_t number) {
  std::uint32_t root = 0;
  for (std::uint32_t bit = 1 << 11; bit > 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= number)
      root += bit;
  return root;
}

CUDAVISION_HOST_DEVICE inline Level noise_of_variance(std::uint32_t variance) {
  return {variance, integer_root(variance)};
}
inline Level noise_of_deviation(std::uint32_t deviation) {
  return {deviation * deviation, deviation};
}

struct State {
  Level used;                  ///< level to apply to the last frame
  std::uint32_t measured = 0;  ///< variance of the last frame with enough blocks
  std::int32_t average = -1;   ///< 256 times the average of `measured`; −1 at first
  bool uncertain = false;      ///< `measured` is from a frame with too few smooth blocks

  /// Adds the measurement of a frame. `used` follows the average in steps, to avoid flicker.
  CUDAVISION_HOST_DEVICE void take(std::uint32_t variance, bool no_smooth_blocks = false) {
    measured = variance;
    uncertain = no_smooth_blocks;
    const auto target = static_cast<std::int32_t>(variance) * 256;
    const bool first = average < 0;
    average = first ? target : average + ((target - average) >> 3);
    const auto mean = static_cast<std::uint32_t>(average + 128) >> 8;
    const std::uint32_t distance =
        mean < used.variance ? used.variance - mean : mean - used.variance;
    if (first || distance > 64 + used.variance / 4)
      used = noise_of_variance(mean);
  }
};

}  // namespace cudavision::noise
