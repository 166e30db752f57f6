// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The blocks of pixels whose noise is measured, the bins of their sums, and the noise of a class
// from the sums of both spacings, as noise.h defines it.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::noise {

constexpr int block_side = 8;  // pixels along each side
constexpr int near_spacing = 1, far_spacing = 3;
constexpr int bins = 1024, bin_shift = 4;
constexpr int max_extreme_pixels = 4, quantile = 50;

CUDAVISION_HOST_DEVICE inline bool is_extreme(int level) {
  return level < 8 || level > 247;
}
CUDAVISION_HOST_DEVICE inline int bin_of(std::uint32_t sum) {
  const std::uint32_t bin = sum >> bin_shift;
  return static_cast<int>(bin < bins ? bin : bins - 1);
}
CUDAVISION_HOST_DEVICE constexpr std::uint32_t middle_of_bin(int bin) {
  return (static_cast<std::uint32_t>(bin) << bin_shift) + (1 << bin_shift) / 2;
}

/// Variance of a class whose quietest blocks have their sums for both spacings in these bins.
CUDAVISION_HOST_DEVICE inline std::uint32_t variance_of_bins(int near_bin, int far_bin) {
  const std::uint32_t near = middle_of_bin(near_bin) * middle_of_bin(near_bin) / 185;
  const std::uint32_t far = middle_of_bin(far_bin) * middle_of_bin(far_bin) / 200;
  const std::uint32_t correlated = far > near ? 3 * (far - near) / 2 : 0;
  return near > correlated ? near : correlated;
}

}  // namespace cudavision::noise
