// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/calibration/mountdrift.h"

#include <algorithm>
#include <cmath>

namespace cudavision {
namespace {

/// The pairs whose points count. A pair has 30 to 70 of them.
constexpr int max_pairs = 16;
constexpr std::size_t min_points = 20;
/// Cameras turn by fractions of a degree, and zoom by a few in a thousand. These only keep what the
/// points do not show at all from being anything.
constexpr double turn_deviation = 0.05, zoom_deviation = 0.03;
/// Of the logarithm of a focal length that is guessed from the width.
constexpr double focal_deviation = 0.7;
/// In pixels. A block's row is known to about a tenth of a pixel.
constexpr double min_noise = 0.05, max_noise = 1;
/// The share of the points that must fit. 0.76 and more do in pictures that are turned by half a
/// degree.
constexpr double enough_fitting = 0.6;
/// A yaw must move the rows by so many pixels, and by so many times their standard error, to count.
/// In pictures without any, rows have shown yaws that move them by 0.1 pixel, at 5 times the error:
/// small faults of their rectification.
constexpr double enough_yaw = 0.15, enough_certainty = 5;
/// The last pair is explained if at least this share of its points lie this near to the fit.
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

MountFinding MountDrift::add(const sgm::PairFigures& figures, const RectifiedOptics& optics,
                             const sgm::MountTurn& corrected, std::optional<double> known_yaw) {
  const double yaw = known_yaw.value_or(corrected.yaw);
  if (pairs_ > 0 && !optics.matches(optics_))
    reset();
  optics_ = optics;
  MountFinding finding;
  if (!figures.vertical_known())
    return finding;
  add_points(figures, corrected);
  if (seen_.size() < min_points)
    return finding;
  finding.known = true;
  finding.fit = fit_with(0, yaw);
  unexplained_ = explains_last_pair(finding.fit) ? 0 : unexplained_ + 1;
  if (unexplained_ >= pairs_to_forget) {
    finding.moved = true;
    forget_before(pairs_ - pairs_to_forget);
    unexplained_ = 0;
    finding.fit = fit_with(0, yaw);
  }
  const sgm::MountFit with_yaw = fit_with(turn_deviation, yaw);
  finding.yaw = with_yaw.turn.yaw;
  finding.yaw_error = with_yaw.error(1);
  const double half_width = optics.width / (2 * optics.focal_length);
  const double half_height = optics.height / (2 * optics.focal_length);
  const auto apart = [&](const sgm::MountFit& fit, const sgm::MountTurn& turn) {
    const sgm::RowsApart its = sgm::rows_apart(fit, turn, half_width, half_height);
    return sgm::RowsApart{its.rows * optics.focal_length, its.error * optics.focal_length};
  };
  const sgm::RowsApart by_yaw = apart(with_yaw, finding.fit.turn);
  if (!known_yaw && by_yaw.rows > enough_yaw && by_yaw.rows > enough_certainty * by_yaw.error &&
      is_sure(with_yaw))
    finding.fit = with_yaw;
  finding.sure = is_sure(finding.fit);
  const sgm::RowsApart off = apart(finding.fit, corrected);
  finding.rows_off = off.rows;
  finding.rows_error = off.error;
  return finding;
}

void MountDrift::add_points(const sgm::PairFigures& figures, const sgm::MountTurn& corrected) {
  const double f = optics_.focal_length;
  std::vector<Seen> now;
  for (const sgm::MatchedBlock& block : figures.matches) {
    const auto [x, y] = sgm::turned_place(corrected, (block.right_x - optics_.center_x) / f,
                                          (block.right_y - optics_.center_y) / f);
    now.push_back(
        {{(block.left_x - optics_.center_x) / f, (block.left_y - optics_.center_y) / f, x, y},
         pairs_});
  }
  const auto is_seen_again = [&](const Seen& old) {
    return std::any_of(now.begin(), now.end(), [&](const Seen& its) {
      return std::abs(its.point.left_x - old.point.left_x) * f < 0.5 &&
             std::abs(its.point.left_y - old.point.left_y) * f < 0.5 &&
             std::abs(its.point.right_x - old.point.right_x) * f < 1.5 &&
             std::abs(its.point.right_y - old.point.right_y) * f < 1.5;
    });
  };
  seen_.erase(std::remove_if(seen_.begin(), seen_.end(), is_seen_again), seen_.end());
  seen_.insert(seen_.end(), now.begin(), now.end());
  ++pairs_;
  forget_before(pairs_ - max_pairs);
}

void MountDrift::forget_before(int pair) {
  oldest_ = std::max(oldest_, pair);
  seen_.erase(std::remove_if(seen_.begin(), seen_.end(),
                             [&](const Seen& seen) { return seen.pair < oldest_; }),
              seen_.end());
}

std::vector<sgm::MatchedPoint> MountDrift::points() const {
  std::vector<sgm::MatchedPoint> all;
  all.reserve(seen_.size());
  for (const Seen& seen : seen_)
    all.push_back(seen.point);
  return all;
}

bool MountDrift::explains_last_pair(const sgm::MountFit& fit) const {
  const double reach = std::max(near_fit / optics_.focal_length, 3 * fit.noise);
  int points = 0, near = 0;
  for (const Seen& seen : seen_) {
    if (seen.pair != pairs_ - 1)
      continue;
    const double row = sgm::upright_place(fit.turn, seen.point.right_x, seen.point.right_y)[1];
    ++points;
    near += std::abs(row - seen.point.left_y) <= reach;
  }
  return near >= explained * points;
}

sgm::MountFit MountDrift::fit_with(double yaw_deviation, double yaw) const {
  sgm::MountPrior prior;
  prior.turn.yaw = yaw;
  prior.deviations = {turn_deviation, yaw_deviation, turn_deviation, zoom_deviation,
                      optics_.focal_is_known ? 0 : focal_deviation};
  return sgm::fit_mount(points(), prior, min_noise / optics_.focal_length);
}

bool MountDrift::is_sure(const sgm::MountFit& fit) const {
  return pairs_ - oldest_ >= 2 && fit.fitting >= enough_fitting &&
         fit.noise * optics_.focal_length <= max_noise;
}

}  // namespace cudavision
