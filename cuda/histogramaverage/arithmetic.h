// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arithmetic of averages and hysteresis, shared by both backends.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::histogramaverage {

CUDAVISION_HOST_DEVICE inline std::uint32_t rounded_average(std::uint64_t state) {
  return static_cast<std::uint32_t>((state + (1u << 15)) >> 16);
}

/// State of a new average after one frame with this count.
CUDAVISION_HOST_DEVICE inline std::uint64_t first_state(std::uint32_t count) {
  return static_cast<std::uint64_t>(count) << 16;
}

/// Returns state + (((count·2^16 − state)·weight) >> 16). The product may have 66 bits, so the
/// parts of the difference are multiplied separately. This is exact, because the product of the
/// upper part is a multiple of 2^16 before the shift.
CUDAVISION_HOST_DEVICE inline std::uint64_t next_state(std::uint64_t state, std::uint32_t count,
                                                       int weight) {
  const auto difference = static_cast<std::int64_t>(first_state(count) - state);
  const std::int64_t upper = difference >> 16;
  const std::int64_t lower = difference & 0xffff;
  return state + static_cast<std::uint64_t>(upper * weight + (lower * weight >> 16));
}

/// Sums over all bins of a frame, or over some of them.
struct SceneSums {
  std::uint64_t difference;  ///< Σ|H − h|
  std::uint64_t counts;      ///< ΣH
};

/// Adds one bin. count and average are sums over all histograms.
CUDAVISION_HOST_DEVICE inline void add_bin(SceneSums& sums, std::uint64_t count,
                                           std::uint64_t average) {
  sums.difference += count > average ? count - average : average - count;
  sums.counts += count;
}

/// Neither side of the comparison overflows, because both sums are below 2^48.
CUDAVISION_HOST_DEVICE inline bool is_scene_cut(const SceneSums& sums, int threshold,
                                                const std::uint32_t* area_change) {
  return threshold < 65536 &&
         (sums.difference << 15 > sums.counts * static_cast<std::uint64_t>(threshold) ||
          (area_change && *area_change > static_cast<std::uint32_t>(threshold)));
}

/// Hysteresis: clamps in_use, an entry of the current table, to within play of made, the new entry.
CUDAVISION_HOST_DEVICE inline int followed(int in_use, int made, int play) {
  return in_use < made - play ? made - play : in_use > made + play ? made + play : in_use;
}

}  // namespace cudavision::histogramaverage
