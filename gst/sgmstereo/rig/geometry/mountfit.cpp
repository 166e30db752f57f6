// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/geometry/mountfit.h"

#include <cmath>

namespace cudavision::rig {
namespace {

using Unknowns = std::array<double, MountPrior::unknowns>;
using Rotation = std::array<double, 9>;

constexpr double probe = 1e-6;  // step of numeric derivatives

Unknowns unknowns_of(const RigRotation& turn) {
  return {turn.pitch, turn.yaw, turn.roll, turn.zoom, std::log(turn.focal)};
}

RigRotation turn_of(const Unknowns& u) {
  return {u[0], u[1], u[2], u[3], std::exp(u[4])};
}

std::array<double, 2> rotated(const Rotation& r, double x, double y) {
  const double z = r[6] * x + r[7] * y + r[8];
  return {(r[0] * x + r[1] * y + r[2]) / z, (r[3] * x + r[4] * y + r[5]) / z};
}

Rotation transposed(const Rotation& r) {
  return {r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]};
}

class InverseRotation {
 public:
  explicit InverseRotation(const Unknowns& unknowns) : InverseRotation(turn_of(unknowns)) {}
  explicit InverseRotation(const RigRotation& turn)
      : back_(transposed(rotation_of(turn))),
        focal_(turn.focal),
        scale_(1 / (turn.focal * turn.zoom)) {}

  std::array<double, 2> position(double x, double y) const {
    const auto [u, v] = rotated(back_, scale_ * x, scale_ * y);
    return {focal_ * u, focal_ * v};
  }
  double residual(const MatchedPoint& point) const {
    return position(point.right_x, point.right_y)[1] - point.left_y;
  }

 private:
  Rotation back_;
  double focal_, scale_;
};

}  // namespace

std::array<double, 9> rotation_of(const RigRotation& turn) {
  // Rodrigues' formula.
  const double x = turn.pitch, y = turn.yaw, z = turn.roll;
  const double angle = std::sqrt(x * x + y * y + z * z);
  const double a = angle < 1e-9 ? 1 : std::sin(angle) / angle;
  const double b = angle < 1e-9 ? 0.5 : (1 - std::cos(angle)) / (angle * angle);
  return {1 - b * (y * y + z * z), b * x * y - a * z,       b * x * z + a * y,
          b * x * y + a * z,       1 - b * (x * x + z * z), b * y * z - a * x,
          b * x * z - a * y,       b * y * z + a * x,       1 - b * (x * x + y * y)};
}

std::array<double, 2> rotated_position(const RigRotation& turn, double x, double y) {
  const auto [u, v] = rotated(rotation_of(turn), x / turn.focal, y / turn.focal);
  const double scale = turn.focal * turn.zoom;
  return {scale * u, scale * v};
}

std::array<double, 2> unrotated_position(const RigRotation& turn, double x, double y) {
  return InverseRotation(turn).position(x, y);
}

double yaw_for_column(const RigRotation& turn, double x, double y, double column) {
  RigRotation its = turn;
  for (int i = 0; i < 10; ++i) {
    const double found = unrotated_position(its, x, y)[0];
    RigRotation more = its;
    more.yaw += probe;
    its.yaw += (column - found) * probe / (unrotated_position(more, x, y)[0] - found);
  }
  return its.yaw;
}

MountFit fit_mount(const std::vector<MatchedPoint>& points, const MountPrior& prior,
                   double min_noise) {
  const RobustFit<MountPrior::unknowns> fit = fit_robustly<InverseRotation>(
      points, unknowns_of(prior.turn), unknowns_of(prior.turn), prior.deviations, min_noise);
  return {fit, turn_of(fit.unknowns)};
}

std::vector<MatchedPoint> grid_points(double half_width, double half_height) {
  constexpr int steps = 4;
  std::vector<MatchedPoint> points;
  for (int j = -steps; j <= steps; ++j)
    for (int i = -steps; i <= steps; ++i) {
      const double x = half_width * i / steps, y = half_height * j / steps;
      points.push_back({x, y, x, y});
    }
  return points;
}

RowsApart rows_apart(const MountFit& fit, const RigRotation& corrected, double half_width,
                     double half_height) {
  std::vector<MatchedPoint> points = grid_points(half_width, half_height);
  for (MatchedPoint& point : points) {
    const auto [x, y] = rotated_position(corrected, point.left_x, point.left_y);
    point.right_x = x;
    point.right_y = y;
  }
  return residuals_at<InverseRotation>(unknowns_of(fit.turn), fit, points);
}

}  // namespace cudavision::rig
