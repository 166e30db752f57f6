// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/core/view.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/sgmstereo/rig/geometry/picturepatch.h"

/// Detects patterns that repeat along rows, such as fences and bricks. Matching may lock areas to
/// the wrong period, and confidence does not show it.
namespace cudavision::rig {

struct Repetition {
  /// Share of the known pixels in areas where a second disparity, a constant period away, matches
  /// as well. Natural scenes stay below 0.02, most of them at 0.
  double share = 0;
  int period = 0;  ///< median over these areas, in pixels; 0 if there are none
};

/// Costs of a pixel, by the position in the right picture from left to right.
using CostProfile = std::vector<std::uint16_t>;

/// Returns the distance in pixels to the nearest position that matches as well as `own`. Returns 0
/// if there is none, and nothing_distinct if `own` is not distinct, as without texture.
///
/// A position is distinct if the costs rise to twice its cost, and by 3 levels per pixel, within 6
/// pixels on both sides. A second position counts if it is distinct and at least 4 pixels away. Its
/// cost must be below the largest cost in between by at least 0.9 times the same difference for
/// `own`.
int period_of(const CostProfile& costs, int own);
inline constexpr int nothing_distinct = -1;

/// Samples about 2400 pixels of the map at most, which holds disparities in
/// disparity_scale(parameters), in rows of 2·width bytes. Costs are sums of absolute differences of
/// 9×9 pixels, minus the mean of the 7×7 pixels around each (picturepatch.h). A sample belongs to a
/// repeating area if enough of the 9×9 samples around it have its period (the median period if it
/// has none) to within 15 %: at least 5, and 35 % of the distinct samples.
///
/// Takes 1 to 5 ms of CPU time on all cores (450×375 to 1920×1080, 64 to 256 disparities), and a
/// few rows of memory per core.
Repetition repetition_of(const NormalizedPicture& left, const NormalizedPicture& right,
                         View<const std::uint8_t> map, const sgm::Parameters& parameters);

}  // namespace cudavision::rig
