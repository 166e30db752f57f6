// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/selfcalibration.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

/// Limits of the fit's noise, in pixels. The row of a block has an error of 0.2 pixels, or of 2 if
/// matching rows are far apart.
constexpr double min_noise = 0.05, max_noise = 4;
/// Minimum share of inliers. Unrectified chessboards have at least 0.66.
constexpr double min_inlier_share = 0.5;
/// A calibration is applied if the distance of rows exceeds `tolerated` pixels. It must also exceed
/// `certainty` standard errors, or have an error below `much_surer` times the last calibration's.
constexpr double tolerated = 0.1, certainty = 3, much_surer = 0.9;
/// Otherwise, no calibration is needed if the standard error in pixels is below this limit.
constexpr double known_rows = 0.3;
/// If matching rows are more than this many pixels apart, many matches are wrong, so the points are
/// dropped after the calibration.
constexpr double near_rows = 4;
constexpr int fewest_pairs = 2;

/// Returns a calibration with a baseline of 1 mm.
StereoCalibration calibration_of(const rig::CameraPair& pair, const UncalibratedOptics& optics) {
  const double f = optics.focal_length;
  const double x = (optics.width - 1) / 2.0, y = (optics.height - 1) / 2.0;
  StereoCalibration result;
  result.left.matrix = {f, 0, x, 0, f, y + pair.left_row * f, 0, 0, 1};
  result.right.matrix = {f * pair.zoom, 0, x, 0, f * pair.zoom, y + pair.right_row * f, 0, 0, 1};
  result.left.distortion = result.right.distortion = {pair.k1, pair.k2, 0, 0};
  result.pose.rotation =
      rig::rotation_of({.pitch = pair.pitch, .yaw = pair.yaw, .roll = pair.roll});
  const double length = std::hypot(1, pair.below, pair.before);
  const double position[] = {1 / length, pair.below / length, pair.before / length};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      result.pose.translation[i] -= result.pose.rotation[3 * i + j] * position[j];
  result.width = optics.width;
  result.height = optics.height;
  result.files = "calibration=auto";
  return result;
}

struct Job {
  std::vector<rig::MatchedPoint> points;
  std::vector<rig::MatchedPoint> rows_now;  ///< grid points in one row of both rectified pictures
  double rows_error;  ///< standard error of the calibration in use; 0: none is in use
  UncalibratedOptics optics;
};

std::optional<SelfCalibrated> run(const Job& job) {
  const double f = job.optics.focal_length;
  SelfCalibrated result;
  result.fit = rig::fit_camera_pair(job.points, min_noise / f);
  result.points = static_cast<int>(job.points.size());
  const rig::RowsApart off = rig::rows_apart(result.fit, job.rows_now);
  result.rows_off = off.rows * f;
  result.rows_error = off.error * f;
  const double corner = std::hypot(job.optics.width, job.optics.height) / (2 * f);
  const bool is_better =
      result.rows_off > tolerated && (result.rows_off > certainty * result.rows_error ||
                                      result.rows_error < much_surer * job.rows_error);
  if (result.fit.inlier_share < min_inlier_share || result.fit.noise * f > max_noise ||
      !rig::is_one_to_one(result.fit.pair, corner))
    return {};
  if (!is_better)
    return result.rows_error < known_rows ? std::optional(result) : std::nullopt;
  result.calibration = calibration_of(result.fit.pair, job.optics);
  try {
    result.rectification = make_rectification(result.calibration, job.optics.width,
                                              job.optics.height, job.optics.alpha);
  } catch (const ElementError&) {  // the fitted cameras are impossible
    return {};
  }
  return result;
}

bool shows_same_view(const UncalibratedOptics& a, const UncalibratedOptics& b) {
  const double scale = static_cast<double>(b.width) / std::max(a.width, 1);
  return a.alpha == b.alpha && std::abs(a.height * scale - b.height) < 1 &&
         std::abs(a.focal_length * scale - b.focal_length) < 0.001 * b.focal_length;
}

}  // namespace

const SelfCalibrated* SelfCalibration::begin_work(const UncalibratedOptics& optics) {
  if (shows_same_view(optics, optics_)) {
    if (optics != optics_) {
      pending_ = {};  // the pending maps have the old size
      if (current_)
        current_->rectification =
            make_rectification(current_->calibration, optics.width, optics.height, optics.alpha);
    }
  } else {
    *this = SelfCalibration();
  }
  optics_ = optics;
  left_camera_ = right_camera_ = identity_camera(optics.width, optics.height, optics.focal_length);
  if (!current_)
    return nullptr;
  left_camera_ = current_->rectification.left_camera;
  right_camera_ = current_->rectification.right_camera;
  return &*current_;
}

std::vector<rig::MatchedPoint> SelfCalibration::as_cameras_see(
    const std::vector<rig::MatchedBlock>& blocks, const rig::RigRotation& corrected) const {
  Positions left, right;
  for (const rig::MatchedBlock& block : blocks) {
    left.push_back({block.left_x, block.left_y});
    right.push_back({block.right_x, block.right_y});
  }
  left = camera_positions(left_camera_, left);
  right = camera_positions(rotated_camera(right_camera_, corrected), right);
  const double f = optics_.focal_length;
  const double x = (optics_.width - 1) / 2.0, y = (optics_.height - 1) / 2.0;
  std::vector<rig::MatchedPoint> points;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    points.push_back(
        {(left[i][0] - x) / f, (left[i][1] - y) / f, (right[i][0] - x) / f, (right[i][1] - y) / f});
  return points;
}

void SelfCalibration::add(const rig::PairFigures& figures, const rig::RigRotation& corrected) {
  ++inspections_;
  if (stopped_ || !figures.vertical_known())
    return;
  const std::vector<rig::MatchedPoint> now = as_cameras_see(figures.matches, corrected);
  seen_.add(now, optics_.focal_length);
  if (seen_.size() >= next_fit_ && !pending_.is_pending() &&
      seen_.seen().front().pair <= seen_.pairs() - fewest_pairs)
    begin(corrected);
  seen_.keep_last(max_points);
}

void SelfCalibration::forget_before_last(int pairs) {
  pending_ = {};
  seen_.forget_before(seen_.pairs() - pairs);
}

void SelfCalibration::stop() {
  stopped_ = true;
  seen_.clear();
  pending_ = {};
}

void SelfCalibration::begin(const rig::RigRotation& corrected) {
  Job job;
  job.optics = optics_;
  job.rows_error = current_ ? current_->rows_error : 0;
  job.points = seen_.points();
  // Rows do not depend on disparities, so all points get disparity 0.
  std::vector<rig::MatchedBlock> blocks;
  for (const rig::MatchedPoint& point :
       rig::grid_points(optics_.width / 2.0, optics_.height / 2.0)) {
    const double x = point.left_x + (optics_.width - 1) / 2.0;
    const double y = point.left_y + (optics_.height - 1) / 2.0;
    blocks.push_back({x, y, x, y});
  }
  job.rows_now = as_cameras_see(blocks, corrected);
  next_fit_ = seen_.size() + seen_.size() / 4;
  if (seen_.size() < max_points)
    next_fit_ = std::min(next_fit_, max_points);
  pending_.begin([job] { return run(job); });
}

bool SelfCalibration::take() {
  std::optional<SelfCalibrated> found = pending_.take();
  if (!found)
    return false;
  needs_none_ = true;
  if (found->rectification.right.places.empty())
    return false;
  if (found->rows_off > near_rows) {
    seen_.clear();
    next_fit_ = min_points;
  }
  current_ = std::move(found);
  ++count_;
  return true;
}

}  // namespace cudavision
