// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "cuda/noise/noise.h"
#include "tests/kernels/common/gtest_support.h"

namespace cudavision::test {

/// Downloads the states of an estimate.
inline std::vector<noise::State> states_of(Device& device, const noise::Estimate& estimate) {
  std::vector<noise::State> states(FrameLayout::max_channels);
  constexpr int bytes = FrameLayout::max_channels * sizeof(noise::State);
  device.download({reinterpret_cast<const std::uint8_t*>(estimate.states()), bytes, 1, bytes},
                  {reinterpret_cast<std::uint8_t*>(states.data()), bytes, 1, bytes});
  device.finish();
  return states;
}

}  // namespace cudavision::test
