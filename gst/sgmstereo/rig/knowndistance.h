// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cuda/core/view.h"
#include "gst/sgmstereo/rig/extrinsicdrift.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// Returns an empty string if the text is empty or a value of the property known-distance,
/// "x,y,mm", else what is wrong and how to mend it.
std::string known_distance_error(const char* text);

/// What a pair has shown of the distance.
struct DistanceEstimate {
  /// The disparity there, minus the one that the distance should have, in pixels.
  std::optional<double> offset;
  /// The yaw of the right camera that explains it, if this pair confirms one before it.
  std::optional<double> yaw;
  std::string problem;  ///< why nothing can be found, and the remedy; empty: all is well
};

/// Finds the yaw by which the right camera has turned, which rows do not show, from a distance that
/// is known. Two inspected pairs must agree on it. Then it is known, and the distance counts no
/// more until the property is set to another one: what moves in front of the place later does no
/// harm.
class DistanceMeasurement {
 public:
  /// text is interned and has no error. map is in host memory, as sgm::SgmStereo has written it
  /// with these settings, while the right camera was corrected by a turn.
  DistanceEstimate add(const char* text, View<const std::uint8_t> map,
                       const StereoSettings& settings, const RectifiedOptics& optics,
                       const rig::RigRotation& corrected);

 private:
  const char* text_ = nullptr;  ///< the last one
  bool done_ = false;
  int pairs_ = 0;  ///< since the text was set
  std::optional<double> last_yaw_;
};

}  // namespace cudavision
