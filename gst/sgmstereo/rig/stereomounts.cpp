// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/stereomounts.h"

#include <cmath>
#include <utility>

namespace cudavision {
namespace {

/// Distance of matching rows in pixels. 0.25 hardly affects matching. The estimate's error is 0.05.
constexpr double tolerated = 0.15;
/// A change of yaw that shifts disparities by at most this many pixels is ignored.
constexpr double min_shift = 0.25;
constexpr double certainty = 3;  // in standard errors

}  // namespace

RectifiedCamera rotated_camera(const RectifiedCamera& camera, const rig::RigRotation& turn) {
  RectifiedCamera result = camera;
  // rotation⁻¹ converts rectified directions to camera directions. The rotation R and then the zoom
  // Z precede this conversion, so the new rotation is R⁻¹·Z⁻¹·rotation.
  const Matrix3x3 r = rig::rotation_of(turn), &old = camera.rectification.rotation;
  const double unzoom[] = {1 / turn.zoom, 1 / turn.zoom, 1};
  Matrix3x3& rotation = result.rectification.rotation;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += r[3 * k + i] * unzoom[k] * old[3 * k + j];
      rotation[3 * i + j] = sum;
    }
  // turn.focal differs from 1 only without a calibration. Then it also scales rectified pictures.
  for (double* length : {&result.camera.matrix[0], &result.camera.matrix[4],
                         &result.rectification.projection[0], &result.rectification.projection[5]})
    *length *= turn.focal;
  return result;
}

void StereoMounts::forget() {
  const unsigned corrections = corrections_;
  *this = StereoMounts();
  corrections_ = corrections;
}

const rig::RigRotation& StereoMounts::begin_work(const RectifiedOptics& optics) {
  if (optics_.width > 0 && !optics_.matches(optics))
    *this = StereoMounts();
  optics_ = optics;
  if (map_.is_pending()) {
    corrected_ = next_;
    map_ = {};
  }
  return corrected_;
}

RectifyingMap StereoMounts::take_correction() {
  corrected_ = next_;
  return map_.take();
}

MountReport StereoMounts::inspect(const rig::PairFigures& figures, const InspectedPair& pair,
                                  const char* known_distance, bool may_correct) {
  MountReport report;
  report.mode = pair.settings.drift();
  const bool corrects = report.mode == CalibrationDrift::correct;
  if (!corrects && *known_distance)
    report.distance.problem =
        std::string("known-distance has no effect with calibration-drift=") +
        (report.mode == CalibrationDrift::off ? "off" : "warn") +
        ": set calibration-drift=correct and restart the element, or leave known-distance empty.";
  if (report.mode == CalibrationDrift::off)
    return report;
  report.corrected = corrected_;
  const auto known_yaw = measured_ ? measured_->yaw : std::nullopt;
  report.estimate = drift_.add(figures, optics_, report.corrected, known_yaw);
  if (corrects && !map_.is_pending())
    correct(pair, known_distance, may_correct, report);
  report.corrections = corrections_;
  return report;
}

void StereoMounts::correct(const InspectedPair& pair, const char* known_distance, bool may_correct,
                           MountReport& report) {
  const ExtrinsicEstimate& estimate = report.estimate;
  const bool rows_are_off =
      estimate.rows_off > tolerated && estimate.rows_off > certainty * estimate.rows_error;
  if (measured_ || (estimate.sure && may_correct && rows_are_off)) {
    rig::RigRotation turn = report.corrected;
    if (estimate.sure && may_correct)
      turn = estimate.fit.turn;
    else
      turn.yaw = *measured_->yaw;
    report.distance = std::exchange(measured_, std::nullopt).value_or(DistanceEstimate());
    report.begins = true;
    map_.begin([camera = rotated_camera(pair.right_camera, turn), width = optics_.width,
                height = optics_.height] { return make_plane_map(camera, width, height, 1, 1); });
    next_ = turn;
    ++corrections_;
    return;
  }
  // If rows are this far apart, the disparity is unreliable.
  if (estimate.known && estimate.rows_off > 2 * tolerated)
    return;
  report.distance =
      distance_.add(known_distance, pair.map, pair.settings, optics_, report.corrected);
  if (const auto yaw = report.distance.yaw;
      yaw && std::abs(*yaw - report.corrected.yaw) * optics_.focal_length > min_shift)
    measured_ = report.distance;
}

}  // namespace cudavision
