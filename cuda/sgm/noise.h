// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The noise of pictures: its estimate over time, and the arithmetic of one pixel of the filtered
// picture, which both backends share. backend.h defines the stages that use them.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::sgm {

/// The noise of pictures. Unit of its standard deviation: a sixteenth of a level of 8 bits.
struct NoiseLevel {
  static constexpr int per_level = 16;

  std::uint32_t variance = 0;   ///< in squares of the unit
  std::uint32_t deviation = 0;  ///< √variance, rounded down
};

/// Returns √number, rounded down, for numbers below 2^24.
CUDAVISION_HOST_DEVICE inline std::uint32_t integer_root(std::uint32_t number) {
  std::uint32_t root = 0;
  for (std::uint32_t bit = 1 << 11; bit > 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= number)
      root += bit;
  return root;
}

CUDAVISION_HOST_DEVICE inline NoiseLevel noise_of_variance(std::uint32_t variance) {
  return {variance, integer_root(variance)};
}
inline NoiseLevel noise_of_deviation(std::uint32_t deviation) {
  return {deviation * deviation, deviation};
}

/// The estimate of the noise over time.
struct NoiseState {
  NoiseLevel used;             ///< by the last frame
  std::uint32_t measured = 0;  ///< variance of the last frame that had enough blocks
  std::int32_t average = -1;   ///< of that over time, in 1/256; −1 before the first such frame

  /// Takes the measurement of a frame. The noise in use only follows the average when that has
  /// moved away from it, so that maps do not change their look all the time.
  CUDAVISION_HOST_DEVICE void take(std::uint32_t variance) {
    measured = variance;
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

/// The noise that stages take into account: a fixed one, or that of a state on the device.
struct NoiseSource {
  NoiseLevel fixed;
  const NoiseState* state = nullptr;

  CUDAVISION_HOST_DEVICE NoiseLevel level() const { return state ? state->used : fixed; }
};

/* The estimate */

constexpr int noise_block = 8;  // pixels in a row and rows
constexpr int noise_bins = 1024, noise_bin_shift = 4;
constexpr int max_extreme_pixels = 4, min_noise_blocks = 64, noise_quantile = 50;
/// The distances of the pixels that second differences compare. Noise that has been smoothed, as
/// demosaicing and compression do, shows at the larger one only.
constexpr int noise_spacings = 2;
CUDAVISION_HOST_DEVICE constexpr int noise_spacing(int number) {
  return number == 0 ? 1 : 3;
}

/// The estimate looks at every so many pairs of rows of blocks: at about 2^19 pixels of a large
/// picture, which are enough.
inline int noise_row_step(std::int64_t pixels) {
  return static_cast<int>(1 + (pixels >> 19));
}

CUDAVISION_HOST_DEVICE inline bool is_extreme(int level) {
  return level < 8 || level > 247;
}
CUDAVISION_HOST_DEVICE inline int noise_bin(std::uint32_t sum) {
  const std::uint32_t bin = sum >> noise_bin_shift;
  return static_cast<int>(bin < noise_bins ? bin : noise_bins - 1);
}
/// What is more than this is texture, such as that of a pattern which a projector casts.
constexpr std::uint32_t max_measured_variance = 40000;
/// Returns the variance of the noise by the bin of the quantile.
CUDAVISION_HOST_DEVICE inline std::uint32_t noise_variance_of(int spacing_number, int bin) {
  const std::uint32_t t = (static_cast<std::uint32_t>(bin) << noise_bin_shift) + 8;
  const std::uint32_t variance = t * t / 200, texture = spacing_number == 0 ? 440 : 2000;
  const std::uint32_t noise = variance > texture ? variance - texture : 0;
  return noise < max_measured_variance ? noise : max_measured_variance;
}

/* The filtered picture */

/// Its samples have 12 bits: a level and four bits after it. They are half a level higher than the
/// luminance, so that their upper 8 bits are the luminance, rounded.
constexpr int filtered_bits = 12, filtered_unit = 16, filtered_offset = 8;

/// Returns the variance of noise in the unit of window_variance().
CUDAVISION_HOST_DEVICE inline std::uint32_t noise_in_window(const NoiseLevel& noise) {
  return (625 * noise.variance) >> 8;
}

/// Returns 625 times the variance of 25 levels with this sum and this sum of squares.
inline std::uint32_t window_variance(std::uint32_t sum, std::uint32_t squares) {
  return 25 * squares - sum * sum;
}

/// Returns the filtered sample: between the pixel's level and the mean, by the share of the noise
/// in the variance. Both variances are in the unit of window_variance(). On CUDA,
/// noisefilter_arithmetic.h gives the same.
inline std::uint16_t filtered_sample(std::uint32_t level, std::uint32_t sum, std::uint32_t variance,
                                     std::uint32_t noise) {
  const std::uint32_t kept = variance > noise ? (variance - noise) * 256 / variance : 0;
  const std::uint32_t filtered = (25 * kept * level + sum * (256 - kept) + 200) / 400;
  return static_cast<std::uint16_t>(filtered + filtered_offset);
}

/// A pixel of the filtered picture counts as darker than the mean only if it is by more than this.
CUDAVISION_HOST_DEVICE inline int dead_zone(const NoiseLevel& noise) {
  return static_cast<int>((13 * noise.deviation) >> 5);
}

/* The penalties */

/// Returns P1 under noise, which stays below the P2 of a step that crosses no edge.
CUDAVISION_HOST_DEVICE inline int noisy_p1(int p1, int p2, const NoiseLevel& noise) {
  const int more = static_cast<int>((noise.deviation + 4) >> 3);
  const int raised = p1 + (more < 6 ? more : 6);
  return raised < p2 ? raised : p2 - 1;
}

}  // namespace cudavision::sgm
