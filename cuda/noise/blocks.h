// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The blocks of pixels whose noise is measured, and the bins of their sums.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::noise {

constexpr int block_side = 8;  // pixels along each side
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

}  // namespace cudavision::noise
