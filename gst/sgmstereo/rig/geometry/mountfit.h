// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <vector>

#include "gst/sgmstereo/rig/geometry/robustfit.h"

/// Estimates the rotation of the right camera from points that both cameras see.
namespace cudavision::rig {

/// A point in both pictures, in focal lengths from the principal point: x right, y down.
struct MatchedPoint {
  double left_x, left_y, right_x, right_y;
};

/// The difference between the right camera and a correct camera. A correct camera sees a point in
/// the direction p = (x, y, 1), with x right and y down. The right picture shows it at zoom·(q.x /
/// q.z, q.y / q.z), where q = R·p, and R is the rotation by the vector (pitch, yaw, roll).
/// Positions are in focal lengths as in MatchedPoint. If the true focal length is `focal` times the
/// assumed focal length, p = (x / focal, y / focal, 1), and positions are multiplied by `focal`.
///
/// With a positive pitch, the camera looks down; with a positive yaw, to the left. A positive roll
/// is counter-clockwise, seen from behind.
struct RigRotation {
  double pitch = 0, yaw = 0, roll = 0;  ///< radians
  double zoom = 1;                      ///< focal length relative to the left camera's
  double focal = 1;                     ///< factor for both cameras; 1 if they are calibrated

  friend bool operator==(const RigRotation&, const RigRotation&) = default;
};

/// Returns R in row-major order.
std::array<double, 9> rotation_of(const RigRotation& turn);

/// Converts a position in a correct camera's picture to the position in the right picture.
std::array<double, 2> rotated_position(const RigRotation& turn, double x, double y);
/// Inverts rotated_position().
std::array<double, 2> unrotated_position(const RigRotation& turn, double x, double y);

/// Returns the yaw for which unrotated_position(turn with this yaw, x, y) has the column `column`.
double yaw_for_column(const RigRotation& turn, double x, double y, double column);

/// The most likely rotation before a fit, and the standard deviations of pitch, yaw, roll, zoom and
/// log(focal), 0 for exact values.
struct MountPrior {
  static constexpr int unknowns = 5;

  RigRotation turn;
  std::array<double, unknowns> deviations{};
};

/// The unknowns are in the order of MountPrior, and the noise is in focal lengths.
struct MountFit : FitQuality<MountPrior::unknowns> {
  RigRotation turn;
};

/// Calls fit_robustly() with the residuals unrotated_position().y − left_y, because a correct
/// camera sees points in the left camera's rows.
MountFit fit_mount(const std::vector<MatchedPoint>& points, const MountPrior& prior,
                   double min_noise);

/// Returns 9×9 points spread over a picture, up to its edges, at equal positions in both pictures.
std::vector<MatchedPoint> grid_points(double half_width, double half_height);

/// Returns the distance of matching rows at grid_points() if the right camera is rotated by `fit`,
/// but its pictures are corrected for `corrected`.
RowsApart rows_apart(const MountFit& fit, const RigRotation& corrected, double half_width,
                     double half_height);

}  // namespace cudavision::rig
