// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "cuda/pixels/luminance.h"
#include "gst/sgmstereo/rectification/rectification.h"
#include "gst/sgmstereo/rig/delayedresult.h"
#include "gst/sgmstereo/rig/extrinsicdrift.h"
#include "gst/sgmstereo/rig/knowndistance.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// A pair that was matched, in host memory.
struct InspectedPair {
  const SamplePlane &left, &right;  ///< luminances as they were matched
  View<const std::uint8_t> map;     ///< as sgm::SgmStereo writes it, before holes are filled
  /// Those that it was matched with, with the calibration's lengths where no others are set.
  const StereoSettings& settings;
  const RectifiedCamera& right_camera;  ///< without a correction
  bool measures_depth;                  ///< a source pad carries its depth
};

/// Returns the camera whose map rectifies the pictures of a right camera that has turned. Its
/// `rotation` is none if the turn has a zoom, but the inverse of the matrix that OpenCV needs.
RectifiedCamera turned(const RectifiedCamera& camera, const rig::RigRotation& turn);

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
  /// The cameras are calibrated anew, so that nothing of what was found out before holds, and no
  /// turn is corrected any more. The count of corrections goes on.
  void forget();

  /// Maps are made anew, for pictures with these optics. Returns the turn that they correct, with
  /// one that was pending.
  const rig::RigRotation& begin_work(const RectifiedOptics& optics);

  /// known_distance is the property. may_correct is false if rows change in a way that no turn
  /// explains.
  MountReport inspect(const rig::PairFigures& figures, const InspectedPair& pair,
                      const char* known_distance, bool may_correct);

  /// The turn that the right pictures are corrected by.
  const rig::RigRotation& corrected() const noexcept { return corrected_; }
  bool correction_is_pending() const noexcept { return map_.is_pending(); }
  /// Call this before each pair. Returns true if a map takes effect with it.
  bool correction_is_due() noexcept { return map_.is_due(); }
  /// Returns that map. Waits for the thread, and throws what it has thrown.
  RectifyingMap take_correction();

 private:
  void correct(const InspectedPair& pair, const char* known_distance, bool may_correct,
               MountReport& report);
  void begin(const rig::RigRotation& turn, const RectifiedCamera& camera);

  RectifiedOptics optics_;
  ExtrinsicDrift drift_;
  DistanceMeasurement distance_;
  std::optional<DistanceEstimate> measured_;  ///< with a yaw, which the next pair corrects
  rig::RigRotation corrected_, next_;
  unsigned corrections_ = 0;  ///< that have taken effect or will do so
  DelayedResult<RectifyingMap> map_;
};

}  // namespace cudavision
