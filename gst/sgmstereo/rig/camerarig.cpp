// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/camerarig.h"

#include <utility>

#include "gst/sgmstereo/rig/geometry/pairinspector.h"

namespace cudavision {
namespace {

DepthFit depth_fit(View<const std::uint8_t> map, const StereoSettings& settings) {
  const sgm::DisparityScale scale = sgm::disparity_scale(settings);
  const double millimetres = settings.focal_length * settings.baseline * scale.per_pixel;
  std::vector<std::size_t> counts(1 << 15);
  std::size_t known = 0;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width / 2; ++x) {
      const std::optional<int> value = rig::counts_at(map, x, y, scale);
      if (!value || *value <= 0)
        continue;
      ++counts[static_cast<std::size_t>(*value)];
      ++known;
    }
  DepthFit fit{0, 0};
  std::size_t saturated = 0, farther = 0;
  for (std::size_t value = 1; value < counts.size() && known > 0; ++value) {
    const double depth = millimetres / static_cast<double>(value);
    if (depth > G_MAXUINT16 * settings.depth_unit)
      saturated += counts[value];
    farther += counts[value];
    if (fit.farthest == 0 && 100 * farther > known)
      fit.farthest = depth;
  }
  if (known > 0)
    fit.saturated = static_cast<double>(saturated) / static_cast<double>(known);
  return fit;
}

}  // namespace

std::string CameraRig::take_calibration() {
  if (!calibration_.take())
    return {};
  mounts_.forget();
  offsets_.clear();
  return calibration_text(calibration_.current());
}

std::optional<RectifyingMap> CameraRig::take_correction() {
  if (!mounts_.correction_is_pending())
    return {};
  offsets_.clear();
  return mounts_.take_correction();
}

// With calibration=auto, corrections wait until the cameras are calibrated.
MountReport CameraRig::inspect_mounts(const InspectedPair& pair, const rig::PairFigures& figures) {
  const StereoSettings& settings = pair.settings;
  const bool simultaneous = !offsets_.vary();
  if (!settings.calibration.automatic())
    return mounts_.inspect(figures, pair, settings.known_distance, simultaneous);
  calibration_.add(figures, mounts_.corrected());
  const bool calibrated = calibration_.is_calibrated();
  MountReport report = mounts_.inspect(figures, pair, calibrated ? settings.known_distance : "",
                                       calibrated && simultaneous);
  report.calibrations = calibration_.count();
  report.calibrating = calibration_.is_patient();
  if (report.estimate.moved)
    calibration_.forget_before_last(ExtrinsicDrift::pairs_to_forget);
  if (report.begins && report.distance.yaw)  // another calibration would lose this yaw
    calibration_.stop();
  return report;
}

RigReport CameraRig::inspect(const InspectedPair& pair) {
  const StereoSettings& settings = pair.settings;
  RigReport report;
  report.figures =
      rig::PairInspector({pair.left.width, pair.left.height(), pair.left.bits}, settings)
          .inspect(pair.left, pair.right, pair.map, settings);
  report.mounts = inspect_mounts(pair, report.figures);
  // Row offsets before the first calibration depend on the depth of the scene, so ignore them.
  if (!report.mounts.calibrating)
    offsets_.add(report.figures);
  if (pair.measures_depth)
    report.depth = depth_fit(pair.map, settings);
  RigWarnings now = warnings_of(pair, report, offsets_);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool confirmed =
        !found_[i].text.empty() && (i != warning_unrectified || offsets_.is_steady());
    if (now[i].certain || confirmed)
      warn(i, now[i], report.warnings);
  }
  found_ = std::move(now);
  ++inspections_;
  if (report.mounts.begins)
    report.correction = correction_text(report.mounts);
  return report;
}

std::vector<RigWarning> CameraRig::end() {
  std::vector<RigWarning> warnings;
  for (std::size_t i = 0; i < found_.size() && inspections_ == 1; ++i)
    warn(i, found_[i], warnings);
  found_ = {};
  offsets_ = {};
  inspections_ = 0;
  return warnings;
}

void CameraRig::warn(std::size_t number, const RigWarning& warning,
                     std::vector<RigWarning>& warnings) {
  if (!warning.text.empty() && !std::exchange(warned_[number], true))
    warnings.push_back(warning);
}

}  // namespace cudavision
