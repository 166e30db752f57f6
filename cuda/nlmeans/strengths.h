// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Automatic strengths and the tables of weights. The host makes the tables, so that they are equal
// on all devices. The device quantises automatic strengths to steps, each with its own table.

#include <cstdint>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::nlmeans {

/// Bits by which a sum of squared differences is shifted right to index the table.
int distance_shift(const Parameters& parameters, int bits) noexcept;

/// Maximum table length, for all parameters and depths.
constexpr int max_patch_weights(int channels) {
  return channels << 16;
}

/// Writes the table for `strength` (not parameters.strength) and returns its length. The table ends
/// at the largest possible index, or at the first 0, which holds for all larger indices.
int make_patch_weights(const Parameters& parameters, double strength, int bits, int channels,
                       std::uint32_t* weights) noexcept;

/// Strengths of the steps: 2^(i/8) for step i.
constexpr int strength_steps = 48;
double strength_of_step(int step) noexcept;

/// Lowest variance (noise::Level) of each step, ascending from 0. step_for() returns the step whose
/// strength is nearest, on a logarithmic scale, to the best strength for the variance. If d is the
/// standard deviation in levels of 8 bits, the best strength is
///   (0.95·d + 0.5)·(21/search)^(1/5)·frames^(−1/7)
/// With a larger search or more frames, the best patches are more similar. The formula was fitted
/// to photographs and a video. docs/elements/cudadenoise.md lists the errors.
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

/// Steps are divided into strength classes. Each class has a launch with room for its tables; the
/// noise decides which launch runs. For one channel of 8 bits, the launch with the larger tables
/// takes 1.4 times as long (H200).
constexpr int strength_class_count = 2;
CUDAVISION_HOST_DEVICE constexpr int first_step_of_class(int number) {
  return number == 0 ? 0 : number == 1 ? 28 : strength_steps;
}

/// Maximum number of entries: in the tables of all steps together, and in the last step's table.
constexpr int max_weights_of_steps(int channels) {
  return channels * (41 << 12);
}
constexpr int max_weights_of_last_step(int channels) {
  return channels * (7 << 12);
}

/// Channels with one strength. If automatic, it depends on the integer mean of their variances.
struct NoisyChannels {
  int count = 0;
  int channels[FrameLayout::max_channels] = {};  ///< indices in the layout

  CUDAVISION_HOST_DEVICE std::uint32_t variance(const noise::State* states) const {
    std::uint32_t sum = 0;
    for (int i = 0; i < count; ++i)
      sum += states[channels[i]].used.variance;
    return sum / static_cast<std::uint32_t>(count);
  }
};

}  // namespace cudavision::nlmeans
