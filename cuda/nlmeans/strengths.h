// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Strengths for noise, and the tables of weights. The host makes the tables, so that all devices
// use equal ones. Strengths that only the device knows are quantised, with a table for each step.

#include <cstdint>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::nlmeans {

/// Bits by which a sum of squared differences is shifted right to index the table.
int distance_shift(const Parameters& parameters, int bits) noexcept;

/// Maximum for all parameters and depths.
constexpr int max_patch_weights(int channels) {
  return channels << 16;
}

/// Writes the table for `strength` (not parameters.strength) and returns its length. It ends at the
/// largest possible index, or with the first 0, which then holds for all larger indices.
int make_patch_weights(const Parameters& parameters, double strength, int bits, int channels,
                       std::uint32_t* weights) noexcept;

/// Strength for noise of this standard deviation, in levels of 8 bits. With a larger search or more
/// frames, the best patches are more similar. The line was fitted to photographs, and its factor
/// for frames to a film; docs/elements/cudadenoise.md lists the errors.
double strength_for_noise(double deviation, int search, int frames) noexcept;

/// Step i has the strength 2^(i/8).
constexpr int strength_steps = 48;
double strength_of_step(int step) noexcept;

/// Lowest variance (noise::Level) of each step, ascending from 0. A step's strength is the nearest
/// one to strength_for_noise(), on a logarithmic scale.
struct StrengthSteps {
  std::uint32_t from[strength_steps];

  StrengthSteps(int search, int frames) noexcept;

  CUDAVISION_HOST_DEVICE int step_for(std::uint32_t variance) const noexcept {
    int step = 0;
    for (int i = 1; i < strength_steps; ++i)
      step += from[i] <= variance ? 1 : 0;
    return step;
  }
};

/// Each class of steps has a launch with room for its tables; the noise decides which launch runs.
/// Launches for one channel of 8 bits take 1.4 times as long with tables of strengths above 12 as
/// with smaller ones (H200).
constexpr int strength_class_count = 2;
CUDAVISION_HOST_DEVICE constexpr int first_step_of_class(int number) {
  return number == 0 ? 0 : number == 1 ? 28 : strength_steps;
}

/// Maximum number of entries of the tables of all steps, and of the last step's table.
constexpr int max_weights_of_steps(int channels) {
  return channels * (41 << 12);
}
constexpr int max_weights_of_last_step(int channels) {
  return channels * (7 << 12);
}

/// Channels with a common strength, which follows from the integer mean of their variances.
struct NoisyChannels {
  int count = 0;
  int channels[FrameLayout::max_channels] = {};  ///< numbers in the layout

  CUDAVISION_HOST_DEVICE std::uint32_t variance(const noise::State* states) const {
    std::uint32_t sum = 0;
    for (int i = 0; i < count; ++i)
      sum += states[channels[i]].used.variance;
    return sum / static_cast<std::uint32_t>(count);
  }
};

}  // namespace cudavision::nlmeans
