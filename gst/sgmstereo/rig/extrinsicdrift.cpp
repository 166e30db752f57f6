// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/extrinsicdrift.h"

#include <algorithm>
#include <cmath>

namespace cudavision {
namespace {

constexpr int max_pairs = 16;
constexpr std::size_t min_points = 20;  // a pair usually has 30 to 70 points
/// Standard deviations of the weak priors, in radians and as a ratio. Cameras rotate less than 1°.
constexpr double turn_deviation = 0.05, zoom_deviation = 0.03;
constexpr double focal_deviation = 0.7;  // of log(focal length), if the focal length is guessed
/// Limits of the fit's noise, in pixels. The row of a block has an error of about 0.1 pixels.
constexpr double min_noise = 0.05, max_noise = 1;
/// Minimum share of inliers. Pictures rotated by half a degree have at least 0.76.
constexpr double min_inlier_share = 0.6;
/// A yaw is significant if it moves rows by more than these numbers of pixels and standard errors.
constexpr double enough_yaw = 0.15, enough_certainty = 5;
/// A fit explains a pair if at least this share of its points is within `near_fit` pixels or 3σ.
constexpr double explained = 0.5, near_fit = 1;

}  // namespace

bool RectifiedOptics::matches(const RectifiedOptics& other) const {
  const double scale = static_cast<double>(other.width) / width;
  const auto near = [&](double a, double b) {
    return std::abs(a * scale - b) < 1 + 0.001 * other.width;
  };
  return focal_is_known == other.focal_is_known && near(height, other.height) &&
         near(focal_length, other.focal_length) && near(center_x, other.center_x) &&
         near(center_y, other.center_y);
}

ExtrinsicEstimate ExtrinsicDrift::add(const rig::PairFigures& figures,
                                      const RectifiedOptics& optics,
                                      const rig::RigRotation& corrected,
                                      std::optional<double> known_yaw) {
  const double yaw = known_yaw.value_or(corrected.yaw);
  if (seen_.pairs() > 0 && !optics.matches(optics_))
    *this = ExtrinsicDrift();
  optics_ = optics;
  ExtrinsicEstimate estimate;
  if (!figures.vertical_known())
    return estimate;
  add_points(figures, corrected);
  if (seen_.size() < min_points)
    return estimate;
  estimate.known = true;
  estimate.fit = fit_with(0, yaw);
  unexplained_ = explains_last_pair(estimate.fit) ? 0 : unexplained_ + 1;
  if (unexplained_ >= pairs_to_forget) {
    estimate.moved = true;
    forget_before(seen_.pairs() - pairs_to_forget);
    unexplained_ = 0;
    estimate.fit = fit_with(0, yaw);
  }
  const rig::MountFit with_yaw = fit_with(turn_deviation, yaw);
  estimate.yaw = with_yaw.turn.yaw;
  estimate.yaw_error = with_yaw.error(1);
  const double half_width = optics.width / (2 * optics.focal_length);
  const double half_height = optics.height / (2 * optics.focal_length);
  const auto apart = [&](const rig::MountFit& fit, const rig::RigRotation& turn) {
    const rig::RowsApart its = rig::rows_apart(fit, turn, half_width, half_height);
    return rig::RowsApart{its.rows * optics.focal_length, its.error * optics.focal_length};
  };
  const rig::RowsApart by_yaw = apart(with_yaw, estimate.fit.turn);
  if (!known_yaw && by_yaw.rows > enough_yaw && by_yaw.rows > enough_certainty * by_yaw.error &&
      is_sure(with_yaw))
    estimate.fit = with_yaw;
  estimate.sure = is_sure(estimate.fit);
  const rig::RowsApart off = apart(estimate.fit, corrected);
  estimate.rows_off = off.rows;
  estimate.rows_error = off.error;
  return estimate;
}

void ExtrinsicDrift::add_points(const rig::PairFigures& figures,
                                const rig::RigRotation& corrected) {
  const double f = optics_.focal_length;
  std::vector<rig::MatchedPoint> points;
  for (const rig::MatchedBlock& block : figures.matches) {
    const auto [x, y] = rig::rotated_position(corrected, (block.right_x - optics_.center_x) / f,
                                              (block.right_y - optics_.center_y) / f);
    points.push_back(
        {(block.left_x - optics_.center_x) / f, (block.left_y - optics_.center_y) / f, x, y});
  }
  seen_.add(points, f);
  forget_before(seen_.pairs() - max_pairs);
}

void ExtrinsicDrift::forget_before(int pair) {
  oldest_ = std::max(oldest_, pair);
  seen_.forget_before(oldest_);
}

bool ExtrinsicDrift::explains_last_pair(const rig::MountFit& fit) const {
  const double max_distance = std::max(near_fit / optics_.focal_length, 3 * fit.noise);
  int points = 0, near = 0;
  for (const SeenPoints::Seen& seen : seen_.seen()) {
    if (seen.pair != seen_.pairs() - 1)
      continue;
    const double row = rig::unrotated_position(fit.turn, seen.point.right_x, seen.point.right_y)[1];
    ++points;
    near += std::abs(row - seen.point.left_y) <= max_distance;
  }
  return near >= explained * points;
}

rig::MountFit ExtrinsicDrift::fit_with(double yaw_deviation, double yaw) const {
  rig::MountPrior prior;
  prior.turn.yaw = yaw;
  prior.deviations = {turn_deviation, yaw_deviation, turn_deviation, zoom_deviation,
                      optics_.focal_is_known ? 0 : focal_deviation};
  return rig::fit_mount(seen_.points(), prior, min_noise / optics_.focal_length);
}

bool ExtrinsicDrift::is_sure(const rig::MountFit& fit) const {
  return seen_.pairs() - oldest_ >= 2 && fit.inlier_share >= min_inlier_share &&
         fit.noise * optics_.focal_length <= max_noise;
}

}  // namespace cudavision
