// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/nlmeans/strengths.h"

#include <algorithm>
#include <cmath>

namespace cudavision::nlmeans {
namespace {

/// Returns the smallest q with 2^q ≥ patch².
int patch_bits(int patch) noexcept {
  int bits = 0;
  while (1 << bits < patch * patch)
    ++bits;
  return bits;
}

}  // namespace

int distance_shift(const Parameters& parameters, int bits) noexcept {
  return patch_bits(parameters.patch) + 2 * (bits - 8);
}

int make_patch_weights(const Parameters& parameters, double strength, int bits, int channels,
                       std::uint32_t* weights) noexcept {
  constexpr double min_weight = 0.001;  // relative to the largest weight
  const std::int64_t largest_sample = (1 << bits) - 1;
  const std::int64_t largest_distance = std::int64_t{parameters.patch} * parameters.patch *
                                        channels * largest_sample * largest_sample;
  const auto largest_index = static_cast<int>(largest_distance >> distance_shift(parameters, bits));

  const int largest_weight =
      0x7fffffff / (parameters.frames * parameters.search * parameters.search * 255);
  const double step = static_cast<double>(1 << patch_bits(parameters.patch)) /
                      (parameters.patch * parameters.patch);
  const auto rounded = static_cast<float>(strength);
  const float squared_strength = rounded * rounded;
  const double scale = squared_strength * static_cast<float>(channels);

  // If the square of the strength underflows in binary32, all other weights become 0.
  weights[0] = static_cast<std::uint32_t>(largest_weight);
  for (int i = 1; i <= largest_index; ++i) {
    const double weight = std::rint(largest_weight * std::exp(-(i * step) / scale));
    if (weight < min_weight * largest_weight) {
      weights[i] = 0;
      return i + 1;
    }
    weights[i] = static_cast<std::uint32_t>(weight);
  }
  return largest_index + 1;
}

double strength_of_step(int step) noexcept {
  return std::exp2(step / 8.0);
}

StrengthSteps::StrengthSteps(int search, int frames) noexcept {
  const double factor = std::pow(21.0 / search, 0.2) * std::pow(frames, -1.0 / 7);
  from[0] = 0;
  for (int step = 1; step < strength_steps; ++step) {
    const double between = std::exp2((step - 0.5) / 8);  // limit between the strengths of two steps
    const double deviation =
        std::max(0.0, (between / factor - 0.5) / 0.95) * noise::Level::per_level;
    from[step] = static_cast<std::uint32_t>(std::ceil(deviation * deviation));
  }
}

}  // namespace cudavision::nlmeans
