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
  std::string text;        ///< empty: there is nothing to warn of
  bool concerns_settings;  ///< and not the pictures
  /// One inspection is enough to be sure. Others may be an accident, such as a blow to the cameras,
  /// so they count only if the next inspection finds the same.
  bool certain;
};

/// By number; warnings are given in this order.
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

/// The depths of a map, as far as they do not fit 16 bits.
struct DepthFit {
  double saturated;  ///< share of the known pixels
  double farthest;   ///< in mm: all but 1 % of the known pixels are at most this far away
};

/// What an inspected pair has shown.
struct RigReport {
  rig::PairFigures figures;
  MountReport mounts;
  std::optional<DepthFit> depth;     ///< if a source pad carries depth
  std::vector<RigWarning> warnings;  ///< those that have not been given since the start
  std::string correction;            ///< what a correction that begins does; empty: none begins
};

/// Returns what is wrong with a pair or the settings, and the remedy.
RigWarnings warnings_of(const InspectedPair& pair, const RigReport& report,
                        const VerticalOffsets& offsets);

/// Returns what a calibration has found that takes effect now.
std::string calibration_text(const SelfCalibrated& found);
/// Returns what a correction that begins does.
std::string correction_text(const MountReport& report);

/// How the two cameras are mounted, from the pairs that are inspected: calibrates them, follows the
/// right one if it turns, and warns of what spoils the matching.
class CameraRig {
 public:
  // Call these whenever maps are made anew.
  /// With calibration=auto: returns the calibration that counts, or nullptr.
  const SelfCalibrated* begin_calibration(const UncalibratedOptics& optics) {
    return calibration_.begin_work(optics);
  }
  /// Returns the turn of the right camera that the map corrects.
  const rig::RigRotation& begin_work(const RectifiedOptics& optics) {
    return mounts_.begin_work(optics);
  }

  // Call these before each pair.
  bool calibration_is_due() { return calibration_.is_due(); }
  bool correction_is_due() { return mounts_.correction_is_due(); }
  /// Lets a calibration that is due take effect, with which maps are made anew. Returns what it has
  /// found, or an empty string if pictures stay as they are.
  std::string take_calibration();
  /// Returns the right camera's next map, if begin_work() has not been called since it was due.
  std::optional<RectifyingMap> take_correction();

  RigReport inspect(const InspectedPair& pair);
  /// Call this at the end of a stream. Returns the warnings of a single inspected pair.
  std::vector<RigWarning> end();

 private:
  MountReport inspect_mounts(const InspectedPair& pair, const rig::PairFigures& figures);
  void warn(std::size_t number, const RigWarning& warning, std::vector<RigWarning>& warnings);

  SelfCalibration calibration_;  ///< with calibration=auto
  StereoMounts mounts_;
  // Of this stream:
  int inspections_ = 0;
  VerticalOffsets offsets_;
  RigWarnings found_{};  ///< by the last inspection
  std::array<bool, warning_count> warned_{};
};

}  // namespace cudavision
