// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/core/view.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/sgmstereo/rig/geometry/picturepatch.h"

/// Detects patterns that repeat along rows, such as fences and bricks, whose areas may match at the
/// wrong period with high confidence.
namespace cudavision::rig {

struct Repetition {
  /// Share of the known pixels that match equally well a period away; up to 0.02 in natural scenes.
  double share = 0;
  int period = 0;  ///< median over the repeating areas, in pixels; 0 if there are none
};

/// Matching costs of a left pixel at positions in the right picture, from left to right.
using CostProfile = std::vector<std::uint16_t>;

/// Returns the distance in pixels to the nearest position that matches as well as `own`, 0 if there
/// is none, or nothing_distinct if `own` is not distinct, for example for lack of texture.
///
/// A position is distinct if the costs rise to twice its cost, and by 3 levels per pixel, within 6
/// pixels on both sides. The second position must be distinct and at least 4 pixels away. From the
/// largest cost between both positions, the costs must fall to the second position by at least 0.9
/// times as much as to `own`.
int period_of(const CostProfile& costs, int own);
inline constexpr int nothing_distinct = -1;

/// Samples at most about 2400 pixels of the map. Its disparities are scaled as
/// disparity_scale(parameters) describes, in rows of 2·width bytes. Costs are sums of absolute
/// differences of 9×9 pixels of Patch. A sample belongs to a repeating area if enough of the 9×9
/// samples around it have its period, or the median period if it has none: at least 5 samples, and
/// 35 % of the distinct samples. Periods may differ by 15 % or 1.5 pixels.
Repetition detect_repetition(const NormalizedPicture& left, const NormalizedPicture& right,
                             View<const std::uint8_t> map, const sgm::Parameters& parameters);

}  // namespace cudavision::rig
