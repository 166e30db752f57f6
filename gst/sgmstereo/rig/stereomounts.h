// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/sgmstereo/rig/extrinsicdrift.h"
#include "gst/sgmstereo/rig/knowndistance.h"
#include "gst/sgmstereo/rig/mountcorrection.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// What an inspected pair has told about the mounts, for the message and the warnings.
struct MountReport {
  CalibrationDrift mode = CalibrationDrift::off;
  ExtrinsicEstimate estimate;
  rig::RigRotation corrected;  ///< while the pair was matched
  unsigned corrections = 0;    ///< so far, with the one that begins now
  bool begins = false;         ///< a correction begins with this pair
  /// Of cameras with calibration=auto: how many calibrations have taken effect.
  std::optional<unsigned> calibrations;
  bool calibrating = false;   ///< likewise: the first one may still come
  DistanceEstimate distance;  ///< of known-distance; the one that led to a correction, if it did
};

/// Follows the mounts of the cameras of a stream, and corrects the right one's pictures.
class StereoMounts {
 public:
  /// Call this at start and stop.
  void reset() { *this = StereoMounts(); }

  /// The cameras are calibrated anew, so that nothing of what was found out before holds.
  void forget();

  /// Maps are made anew, for pictures with these optics. Returns the turn that they correct.
  const rig::RigRotation& begin_work(const RectifiedOptics& optics);

  /// camera is the right one, as it is without a correction. known_distance is the property, and
  /// scene the map in which it is measured. may_correct is false if rows change in a way that no
  /// turn explains.
  MountReport inspect(const rig::PairFigures& figures, CalibrationDrift mode,
                      const RectifiedCamera& camera, const char* known_distance,
                      const DistanceScene& scene, bool may_correct);

  MountCorrection& correction() noexcept { return correction_; }

 private:
  void correct(const RectifiedCamera& camera, const char* known_distance,
               const DistanceScene& scene, bool may_correct, MountReport& report);

  RectifiedOptics optics_;
  ExtrinsicDrift drift_;
  DistanceMeasurement distance_;
  std::optional<DistanceEstimate> measured_;  ///< with a yaw, which the next pair corrects
  MountCorrection correction_;
};

}  // namespace cudavision
