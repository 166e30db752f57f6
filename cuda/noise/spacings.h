// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The two spacings of samples, and the noise of a class from both, as noise.h defines it.

#include <cstdint>

#include "cuda/noise/blocks.h"

namespace cudavision::noise {

constexpr int near_spacing = 1, far_spacing = 3;

CUDAVISION_HOST_DEVICE inline std::uint32_t variance_of_bin(int bin) {
  return middle_of_bin(bin) * middle_of_bin(bin) / 185;
}

/// Variance of a class whose quietest blocks have their sums for both spacings in these bins.
CUDAVISION_HOST_DEVICE inline std::uint32_t variance_of_bins(int near_bin, int far_bin) {
  const std::uint32_t near = variance_of_bin(near_bin);
  const std::uint32_t far = middle_of_bin(far_bin) * middle_of_bin(far_bin) / 200;
  const std::uint32_t correlated = far > near ? 3 * (far - near) / 2 : 0;
  return near > correlated ? near : correlated;
}

}  // namespace cudavision::noise
