// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cuda/core/view.h"
#include "gst/sgmstereo/rig/extrinsicdrift.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// Checks known-distance ("x,y,mm" or empty). Returns an error with its remedy, or an empty string.
std::string known_distance_error(const char* text);

struct DistanceEstimate {
  std::optional<double> offset;  ///< measured minus expected disparity, in pixels
  std::optional<double> yaw;     ///< right camera's yaw in radians, if this pair confirms it
  std::string problem;           ///< an error with its remedy, or empty
};

/// Estimates the yaw of the right camera from a known distance. After two pairs have agreed, it
/// estimates no yaw until the property changes, because other objects may cover the position.
class DistanceMeasurement {
 public:
  /// `text` must be interned and valid. `map` is in host memory. It was computed with `settings`
  /// and with the right camera corrected by `corrected`.
  DistanceEstimate add(const char* text, View<const std::uint8_t> map,
                       const StereoSettings& settings, const RectifiedOptics& optics,
                       const rig::RigRotation& corrected);

 private:
  const char* text_ = nullptr;  ///< `text` of the last call
  bool done_ = false;
  int pairs_ = 0;  ///< number of attempts since the text was set
  std::optional<double> last_yaw_;
};

}  // namespace cudavision
