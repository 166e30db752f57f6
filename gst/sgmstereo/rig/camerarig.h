// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "gst/sgmstereo/rig/selfcalibration.h"
#include "gst/sgmstereo/rig/stereomounts.h"
#include "gst/sgmstereo/rig/verticaloffsets.h"

namespace cudavision {

struct RigWarning {
  std::string text;        ///< empty: no warning
  bool concerns_settings;  ///< false: concerns the pictures
  bool certain;            ///< if false, the next inspection must confirm the warning
};

enum RigWarningId {
  warning_swapped,
  warning_unrectified,
  warning_drift,
  warning_known_distance,
  warning_unsynchronized,
  warning_exposure,
  warning_range,
  warning_unmatched,
  warning_untextured,
  warning_repetition,
  warning_columns,
  warning_focal_length,
  warning_baseline,
  warning_calibrated_lengths,
  warning_depth,
  warning_count
};
using RigWarnings = std::array<RigWarning, warning_count>;

struct DepthFit {
  double saturated;  ///< share of pixels with positive disparity whose depth exceeds 16 bits
  double farthest;   ///< 99th percentile of the depth of pixels with positive disparity, in mm
};

struct RigReport {
  rig::PairFigures figures;
  MountReport mounts;
  std::optional<DepthFit> depth;     ///< set if a source pad carries 16-bit depth
  std::vector<RigWarning> warnings;  ///< only warnings that were not returned before
  std::string correction;            ///< text about a correction that begins, or empty
};

RigWarnings warnings_of(const InspectedPair& pair, const RigReport& report,
                        const VerticalOffsets& offsets);

std::string calibration_text(const SelfCalibrated& found);
std::string correction_text(const MountReport& report);

/// Calibrates the cameras, tracks rotations of the right camera, and warns of matching problems.
class CameraRig {
 public:
  // Call these before maps are made.
  /// Call this only with calibration=auto. Returns the calibration in use, or nullptr.
  const SelfCalibrated* begin_calibration(const UncalibratedOptics& optics) {
    return calibration_.begin_work(optics);
  }
  const rig::RigRotation& begin_work(const RectifiedOptics& optics) {
    return mounts_.begin_work(optics);
  }

  // Call these before each pair.
  bool calibration_is_due() { return calibration_.is_due(); }
  bool correction_is_due() { return mounts_.correction_is_due(); }
  /// Returns a text about the new calibration if it needs new maps, or an empty string.
  std::string take_calibration();
  /// Returns the right camera's new map, or nullopt if the correction is no longer pending, because
  /// begin_work() has returned it or take_calibration() has cancelled it.
  std::optional<RectifyingMap> take_correction();

  RigReport inspect(const InspectedPair& pair);
  /// Call this at the end of a stream. If only one pair was inspected, returns its warnings.
  std::vector<RigWarning> end();

 private:
  MountReport inspect_mounts(const InspectedPair& pair, const rig::PairFigures& figures);
  void warn(std::size_t number, const RigWarning& warning, std::vector<RigWarning>& warnings);

  SelfCalibration calibration_;  ///< used with calibration=auto
  StereoMounts mounts_;
  int inspections_ = 0;
  VerticalOffsets offsets_;
  RigWarnings found_{};  ///< warnings of the last inspection
  std::array<bool, warning_count> warned_{};
};

}  // namespace cudavision
