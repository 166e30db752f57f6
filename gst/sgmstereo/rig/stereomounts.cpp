// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/stereomounts.h"

#include <cmath>
#include <utility>

namespace cudavision {
namespace {

/// Rows may be off by so much, in pixels. Matching suffers little from a quarter of a pixel, and
/// rows are known to about a twentieth.
constexpr double tolerated = 0.15;
/// A yaw that moves disparities by less, in pixels, is none: maps are not more exact.
constexpr double min_shift = 0.25;
/// A correction must be so many times as large as its standard error.
constexpr double certainty = 3;

}  // namespace

void StereoMounts::forget() {
  optics_ = {};
  drift_.reset();
  distance_ = {};
  measured_.reset();
  correction_.forget();
}

const rig::RigRotation& StereoMounts::begin_work(const RectifiedOptics& optics) {
  if (optics_.width > 0 && !optics_.matches(optics))
    reset();
  optics_ = optics;
  correction_.settle();
  return correction_.current();
}

MountReport StereoMounts::inspect(const rig::PairFigures& figures, CalibrationDrift mode,
                                  const RectifiedCamera& camera, const char* known_distance,
                                  const DistanceScene& scene, bool may_correct) {
  MountReport report;
  report.mode = mode;
  const bool corrects = mode == CalibrationDrift::correct;
  if (!corrects && *known_distance)
    report.distance.problem =
        "known-distance corrects the yaw of the right camera, which needs "
        "calibration-drift=correct: set that as well, and start the element again.";
  if (mode == CalibrationDrift::off)
    return report;
  report.corrected = correction_.current();
  const auto known_yaw = measured_ ? measured_->yaw : std::nullopt;
  report.estimate = drift_.add(figures, optics_, report.corrected, known_yaw);
  if (corrects && !correction_.is_pending())
    correct(camera, known_distance, scene, may_correct, report);
  report.corrections = correction_.count();
  return report;
}

void StereoMounts::correct(const RectifiedCamera& camera, const char* known_distance,
                           const DistanceScene& scene, bool may_correct, MountReport& report) {
  const ExtrinsicEstimate& estimate = report.estimate;
  const bool rows_are_off =
      estimate.rows_off > tolerated && estimate.rows_off > certainty * estimate.rows_error;
  if (measured_ || (estimate.sure && may_correct && rows_are_off)) {
    rig::RigRotation turn = report.corrected;
    if (estimate.sure && may_correct)
      turn = estimate.fit.turn;
    else  // a distance needs no rows
      turn.yaw = *measured_->yaw;
    report.distance = std::exchange(measured_, std::nullopt).value_or(DistanceEstimate());
    report.begins = true;
    correction_.begin(turn, camera, optics_.width, optics_.height);
    return;
  }
  // Disparities are not those of the place if its row is another one.
  if (estimate.known && estimate.rows_off > 2 * tolerated)
    return;
  report.distance = distance_.add(known_distance, scene, optics_, report.corrected);
  if (const auto yaw = report.distance.yaw;
      yaw && std::abs(*yaw - report.corrected.yaw) * optics_.focal_length > min_shift)
    measured_ = report.distance;
}

}  // namespace cudavision
