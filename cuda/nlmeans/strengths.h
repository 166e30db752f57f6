// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The strengths that follow from noise. Tables of weights are made on the host, so that they are
// the same everywhere. A strength that only the device knows is therefore one of a few, for all of
// which there are tables on the device.

#include <cstdint>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::nlmeans {

/// Returns a strength that suits noise of this standard deviation, in levels of 8 bits. The larger
/// the search and the more frames, the more similar the best of its patches are. This line fits
/// photographs, and its factor for frames a film; docs/elements/cudadenoise.md has the errors.
double strength_for_noise(double deviation, int search, int frames) noexcept;

/// Step i has the strength 2^(i/8).
constexpr int strength_steps = 48;
double strength_of_step(int step) noexcept;

/// The variances of noise::Level from which on each step is the nearest one to
/// strength_for_noise(), in the logarithm. They rise from 0.
struct StrengthSteps {
  std::uint32_t from[strength_steps];

  StrengthSteps(int search, int frames) noexcept;

  /// Returns the step for the noise of this variance.
  int step_for(std::uint32_t variance) const noexcept;
};

/// The steps are in classes, each of which has a launch with room for its tables, and the noise
/// decides which launch works. Those for one channel of 8 bits take 1.4 times as long with the
/// tables of strengths above 12 as with smaller ones (on an H200).
constexpr int strength_class_count = 2;
/// Returns the first step of a class. The class of number strength_class_count begins behind the
/// last step.
CUDAVISION_HOST_DEVICE constexpr int first_step_of_class(int number) {
  return number == 0 ? 0 : number == 1 ? 28 : strength_steps;
}

/// Returns the maximum number of entries of the tables of all steps, and of that of the last one.
constexpr int max_weights_of_steps(int channels) {
  return channels * (41 << 12);
}
constexpr int max_weights_of_last_step(int channels) {
  return channels * (7 << 12);
}

/// Channels that have a strength together: it follows from the mean of their variances, in whole
/// numbers.
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
