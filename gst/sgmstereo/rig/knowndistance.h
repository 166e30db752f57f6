// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cuda/core/view.h"
#include "gst/sgmstereo/rig/extrinsicdrift.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// The value is "x,y,mm" or empty. Returns an empty string, or an error with its remedy.
std::string known_distance_error(const char* text);

struct DistanceEstimate {
  /// The measured disparity minus the expected disparity, in pixels.
  std::optional<double> offset;
  /// The yaw of the right camera that explains it, if this pair confirms an earlier pair.
  std::optional<double> yaw;
  std::string problem;  ///< why it cannot be measured, and the remedy; empty: no problem
};

/// Finds the yaw of the right camera, which rows do not show, from a known distance. Two pairs must
/// agree on it. Then the distance is ignored until the property changes, as objects may hide it.
class DistanceMeasurement {
 public:
  /// text is interned and valid. The map is in host memory, and was matched with these settings
  /// while the right camera was corrected.
  DistanceEstimate add(const char* text, View<const std::uint8_t> map,
                       const StereoSettings& settings, const RectifiedOptics& optics,
                       const rig::RigRotation& corrected);

 private:
  const char* text_ = nullptr;  ///< the last text
  bool done_ = false;
  int pairs_ = 0;  ///< since the text was set
  std::optional<double> last_yaw_;
};

}  // namespace cudavision
