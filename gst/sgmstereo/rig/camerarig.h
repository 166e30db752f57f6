// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cuda/pixels/luminance.h"
#include "gst/sgmstereo/rig/rigwarnings.h"
#include "gst/sgmstereo/rig/selfcalibration.h"
#include "gst/sgmstereo/rig/stereomounts.h"
#include "gst/sgmstereo/rig/verticaloffsets.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// A pair that was matched, in host memory.
struct InspectedPair {
  const SamplePlane &left, &right;  ///< luminances as they were matched
  PlaneSize size;
  View<const std::uint8_t> map;  ///< as sgm::SgmStereo writes it, before holes are filled
  /// Those that it was matched with, with the calibration's lengths where no others are set.
  const StereoSettings& settings;
  const RectifiedCamera& right_camera;  ///< without a correction
  bool measures_depth;                  ///< a source pad carries its depth
};

struct RigWarning {
  std::string text;
  bool concerns_settings;  ///< and not the pictures
};

/// What an inspected pair has shown.
struct RigReport {
  rig::PairFigures figures;
  MountReport mounts;
  std::optional<double> saturated;   ///< share of the known pixels whose depth exceeds 16 bits
  std::vector<RigWarning> warnings;  ///< those that have not been given since the start
  std::string correction;            ///< what a correction that begins does; empty: none begins
};

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
  bool correction_is_due() { return mounts_.correction().is_due(); }
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
  void warn(StereoWarning warning, const std::string& text, std::vector<RigWarning>& warnings);

  SelfCalibration calibration_;  ///< with calibration=auto
  StereoMounts mounts_;
  // Of this stream:
  int inspections_ = 0;
  VerticalOffsets offsets_;
  StereoWarningTexts found_;  ///< by the last inspection
  std::array<bool, stereo_warning_count> warned_{};
};

}  // namespace cudavision
