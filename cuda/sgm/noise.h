// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Noise levels, and the arithmetic of the stages that depend on noise. backend.h defines them.

#include <cstdint>

#include "cuda/core/view.h"
#include "cuda/noise/measurement.h"
#include "cuda/noise/state.h"

namespace cudavision::sgm {

using NoiseLevel = noise::Level;
using noise::noise_of_deviation;

struct NoiseState : noise::State {};

/// The noise level that stages use: fixed, or measured and available only on the device.
struct NoiseSource {
  NoiseLevel fixed;
  const NoiseState* state = nullptr;

  CUDAVISION_HOST_DEVICE NoiseLevel level() const { return state ? state->used : fixed; }
};

constexpr std::uint32_t min_noise_blocks = 64;
constexpr int noise_spacings = 2;  // demosaicing and compression hide noise at the smaller spacing
CUDAVISION_HOST_DEVICE constexpr int noise_spacing(int number) {
  return number == 0 ? noise::near_spacing : noise::far_spacing;
}

/// Returns n: the estimate measures every n-th pair of block rows. About 2^19 pixels are enough.
inline int noise_row_step(std::int64_t pixels) {
  return static_cast<int>(1 + (pixels >> 19));
}

CUDAVISION_HOST_DEVICE inline bool is_flat_picture(std::uint32_t flat, std::uint32_t others) {
  return flat >= min_noise_blocks && flat > others;
}

/// Upper limit of the estimate, in (1/16 level)². Higher variances are usually due to texture.
constexpr std::uint32_t max_measured_variance = 40000;
CUDAVISION_HOST_DEVICE inline std::uint32_t noise_variance_of(int spacing_number, int bin) {
  const std::uint32_t t = noise::middle_of_bin(bin);
  const std::uint32_t variance = t * t / 200, texture = spacing_number == 0 ? 440 : 2000;
  const std::uint32_t noise = variance > texture ? variance - texture : 0;
  return noise < max_measured_variance ? noise : max_measured_variance;
}

/// Filtered samples have 8 bits of luminance and 4 fractional bits. With the offset of half a
/// level, the upper 8 bits are the rounded luminance.
constexpr int filtered_bits = 12, filtered_unit = 16, filtered_offset = 8;

CUDAVISION_HOST_DEVICE inline std::uint32_t noise_in_window(const NoiseLevel& noise) {
  return (625 * noise.variance) >> 8;
}

inline std::uint32_t window_variance(std::uint32_t sum, std::uint32_t squares) {
  return 25 * squares - sum * sum;
}

/// Stages::filter_noise() defines the result. On CUDA, noise/filter_arithmetic.h computes it.
inline std::uint16_t filtered_sample(std::uint32_t level, std::uint32_t sum, std::uint32_t variance,
                                     std::uint32_t noise) {
  const std::uint32_t kept = variance > noise ? (variance - noise) * 256 / variance : 0;
  const std::uint32_t filtered = (25 * kept * level + sum * (256 - kept) + 200) / 400;
  return static_cast<std::uint16_t>(filtered + filtered_offset);
}

/// Returns the difference from the mean, in 1/16 level, that sets a darker pixel's bit if exceeded.
CUDAVISION_HOST_DEVICE inline int dead_zone(const NoiseLevel& noise) {
  return static_cast<int>((13 * noise.deviation) >> 5);
}

/// Returns P1 of penalties_under(). p2 is P2 for steps without a luminance difference.
CUDAVISION_HOST_DEVICE inline int noisy_p1(int p1, int p2, const NoiseLevel& noise) {
  const int more = static_cast<int>((noise.deviation + 4) >> 3);
  const int raised = p1 + (more < 6 ? more : 6);
  return raised < p2 ? raised : p2 - 1;
}

}  // namespace cudavision::sgm
