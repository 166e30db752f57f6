// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/geometry/camerapairfit.h"

#include <algorithm>
#include <cmath>

namespace cudavision::rig {
namespace {

using Unknowns = std::array<double, CameraPair::unknowns>;
using Rotation = std::array<double, 9>;

struct Direction {
  double x, y, z;
};

/// Below this slope, the distorted radius is considered to have stopped growing.
constexpr double min_slope = 0.05;
constexpr int radius_iterations = 16;
constexpr double radius_precision = 1e-12;  ///< in focal lengths

/// Standard deviations, in the order of CameraPair. Cameras mounted by hand agree to 3°, but rows
/// determine yaw so badly that 1° is assumed. k1 and k2 suit angles of view up to 90°.
constexpr Unknowns deviations = {0.05, 0.02, 0.05, 0.03, 0.3, 0.2, 0.03, 0.03, 0.03, 0.03};

enum Unknown { pitch, yaw, roll, zoom, k1, k2, below, before, left_row, right_row };

Unknowns unknowns_of(const CameraPair& pair) {
  return {pair.pitch, pair.yaw,   pair.roll,   pair.zoom,     pair.k1,
          pair.k2,    pair.below, pair.before, pair.left_row, pair.right_row};
}

CameraPair pair_of(const Unknowns& u) {
  return {u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9]};
}

double slope_at(const CameraPair& pair, double square) {
  return 1 + square * (3 * pair.k1 + 5 * pair.k2 * square);
}

Direction rotated(const Rotation& r, const Direction& d) {
  return {r[0] * d.x + r[1] * d.y + r[2] * d.z, r[3] * d.x + r[4] * d.y + r[5] * d.z,
          r[6] * d.x + r[7] * d.y + r[8] * d.z};
}

Rotation rotation_by(double x, double y, double z) {
  return rotation_of({.pitch = x, .yaw = y, .roll = z});
}

Rotation product(const Rotation& a, const Rotation& b) {
  Rotation result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        result[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return result;
}

/// Returns the shortest rotation of a direction to the x axis.
Rotation rotation_to_axis(const Direction& d) {
  const double aside = std::hypot(d.y, d.z);
  if (aside == 0)
    return rotation_by(0, 0, 0);
  const double angle = std::atan2(aside, d.x);
  return rotation_by(0, angle * d.z / aside, -angle * d.y / aside);
}

class Rectified {
 public:
  explicit Rectified(const Unknowns& unknowns) : Rectified(pair_of(unknowns)) {}
  explicit Rectified(const CameraPair& pair) : pair_(pair) {
    const Rotation half = rotation_by(pair.pitch / 2, pair.yaw / 2, pair.roll / 2);
    const Rotation back = rotation_by(-pair.pitch / 2, -pair.yaw / 2, -pair.roll / 2);
    const Rotation level = rotation_to_axis(rotated(half, {1, pair.below, pair.before}));
    left_ = product(level, half);
    right_ = product(level, back);
  }

  double residual(const MatchedPoint& point) const {
    return row(right_, direction(point.right_x / pair_.zoom,
                                 (point.right_y - pair_.right_row) / pair_.zoom)) -
           row(left_, direction(point.left_x, point.left_y - pair_.left_row));
  }

 private:
  Direction direction(double x, double y) const {
    const double distorted = std::hypot(x, y);
    const double scale = distorted == 0 ? 1 : undistorted_radius(pair_, distorted) / distorted;
    return {scale * x, scale * y, 1};
  }
  static double row(const Rotation& rotation, const Direction& d) {
    const Direction seen = rotated(rotation, d);
    return seen.y / seen.z;
  }

  CameraPair pair_;
  Rotation left_, right_;
};

}  // namespace

double undistorted_radius(const CameraPair& pair, double distorted) {
  double radius = distorted, limit = 4 * distorted;
  for (int i = 0; i < radius_iterations; ++i) {
    const double square = radius * radius;
    const double slope = slope_at(pair, square);
    if (slope < min_slope) {  // beyond the largest radius
      limit = radius;
      radius *= 0.9;
      continue;
    }
    const double step = (radius * (1 + square * (pair.k1 + pair.k2 * square)) - distorted) / slope;
    radius = std::clamp(radius - step, radius / 2, (radius + limit) / 2);
    if (std::abs(step) < radius_precision)
      break;
  }
  return radius;
}

bool is_one_to_one(const CameraPair& pair, double distorted_radius) {
  constexpr int steps = 64;
  double distorted = 0;
  for (int i = 0; i <= 2 * steps; ++i) {
    const double radius = distorted_radius * i / steps, square = radius * radius;
    if (slope_at(pair, square) < min_slope)
      return false;
    distorted = radius * (1 + square * (pair.k1 + pair.k2 * square));
    if (distorted >= distorted_radius)
      return true;
  }
  return false;
}

double row_difference(const CameraPair& pair, const MatchedPoint& point) {
  return Rectified(pair).residual(point);
}

CameraPairFit fit_camera_pair(const std::vector<MatchedPoint>& points, double min_noise) {
  // Far from the solution, k2 and the lens centres could absorb the rotation, so fix them at first.
  const Unknowns likely = unknowns_of(CameraPair());
  Unknowns few = deviations;
  few[k2] = few[left_row] = few[right_row] = 0;
  const Unknowns start = fit_robustly<Rectified>(points, likely, likely, few, min_noise).unknowns;
  const RobustFit<CameraPair::unknowns> fit =
      fit_robustly<Rectified>(points, start, likely, deviations, min_noise);
  return {fit, pair_of(fit.unknowns)};
}

RowsApart rows_apart(const CameraPairFit& fit, const std::vector<MatchedPoint>& points) {
  return residuals_at<Rectified>(unknowns_of(fit.pair), fit, points);
}

}  // namespace cudavision::rig
