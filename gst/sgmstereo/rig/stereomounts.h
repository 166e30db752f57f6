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

/// A matched pair in host memory.
struct InspectedPair {
  const SamplePlane &left, &right;      ///< matched luminances
  View<const std::uint8_t> map;         ///< disparities before holes are filled
  const StereoSettings& settings;       ///< result of with_calibrated_lengths()
  const RectifiedCamera& right_camera;  ///< right camera without a correction
  bool measures_depth;                  ///< a source pad carries 16-bit depth
};

/// Returns the camera whose map rectifies a rotated right camera. If turn.zoom is not 1, the
/// matrix rectification.rotation is not orthogonal, and must be inverted, not transposed.
RectifiedCamera rotated_camera(const RectifiedCamera& camera, const rig::RigRotation& turn);

struct MountReport {
  CalibrationDrift mode = CalibrationDrift::off;
  ExtrinsicEstimate estimate;
  rig::RigRotation corrected;            ///< correction with which the pair was matched
  unsigned corrections = 0;              ///< number so far, including a correction that begins now
  bool begins = false;                   ///< a correction begins with this pair
  std::optional<unsigned> calibrations;  ///< number so far, with calibration=auto
  bool calibrating = false;              ///< SelfCalibration::is_patient(), with calibration=auto
  DistanceEstimate distance;  ///< of this pair; if a correction begins, what caused it, or empty
};

class StereoMounts {
 public:
  /// Call this after a new calibration. Resets everything except the number of corrections.
  void forget();

  /// Call this before maps are made for these optics. Returns the rotation that the maps correct.
  const rig::RigRotation& begin_work(const RectifiedOptics& optics);

  /// `known_distance` is the property. `may_correct` is true if only rotations can offset rows.
  MountReport inspect(const rig::PairFigures& figures, const InspectedPair& pair,
                      const char* known_distance, bool may_correct);

  const rig::RigRotation& corrected() const noexcept { return corrected_; }
  bool correction_is_pending() const noexcept { return map_.is_pending(); }
  /// Call this before each pair.
  bool correction_is_due() noexcept { return map_.is_due(); }
  /// Waits for the thread, and rethrows its exception.
  RectifyingMap take_correction();

 private:
  void correct(const InspectedPair& pair, const char* known_distance, bool may_correct,
               MountReport& report);

  RectifiedOptics optics_;
  ExtrinsicDrift drift_;
  DistanceMeasurement distance_;
  std::optional<DistanceEstimate> measured_;  ///< the next inspection begins to correct its yaw
  rig::RigRotation corrected_, next_;
  unsigned corrections_ = 0;  ///< number so far, including a pending correction
  DelayedResult<RectifyingMap> map_;
};

}  // namespace cudavision
