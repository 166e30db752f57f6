// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/nlmeans/strengths.h"

#include <algorithm>
#include <cmath>

namespace cudavision::nlmeans {
namespace {

constexpr double slope = 0.95, offset = 0.5;

double factor_of(int search, int frames) noexcept {
  return std::pow(21.0 / search, 0.2) * std::pow(frames, -1.0 / 7);
}

}  // namespace

double strength_for_noise(double deviation, int search, int frames) noexcept {
  return (slope * deviation + offset) * factor_of(search, frames);
}

double strength_of_step(int step) noexcept {
  return std::exp2(step / 8.0);
}

StrengthSteps::StrengthSteps(int search, int frames) noexcept {
  from[0] = 0;
  for (int step = 1; step < strength_steps; ++step) {
    const double between = std::exp2((step - 0.5) / 8);  // between the strengths of two steps
    const double deviation = std::max(0.0, (between / factor_of(search, frames) - offset) / slope) *
                             noise::Level::per_level;
    from[step] = static_cast<std::uint32_t>(std::ceil(deviation * deviation));
  }
}

int StrengthSteps::step_for(std::uint32_t variance) const noexcept {
  int step = 0;
  while (step + 1 < strength_steps && from[step + 1] <= variance)
    ++step;
  return step;
}

}  // namespace cudavision::nlmeans
