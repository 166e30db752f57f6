// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <vector>

#include "gst/sgmstereo/rig/geometry/robustfit.h"

/// How the right camera has turned in its mount, from points that both cameras see. Runs on the
/// CPU, whatever device matches the pictures.
namespace cudavision::rig {

/// Where a point of the scene lies in both rectified pictures: how far to the right of and below
/// the principal point, in focal lengths.
struct MatchedPoint {
  double left_x, left_y, right_x, right_y;
};

/// How the right camera differs from the one whose pictures would be rectified. That one sees a
/// point in the direction p = (x, y, 1), with x to the right and y down. Its place in the right
/// picture is zoom·(q.x / q.z, q.y / q.z), where q = R·p, and R is the rotation by the vector
/// (pitch, yaw, roll). Places are measured in focal lengths as in MatchedPoint, of which the true
/// one is `focal` times as long: p = (x / focal, y / focal, 1), and the place is focal times as far
/// away.
///
/// A camera with a positive pitch looks too low, with a positive yaw too far to the left, and with
/// a positive roll it has turned counter-clockwise, as seen from behind it.
struct RigRotation {
  double pitch = 0, yaw = 0, roll = 0;  ///< radians
  double zoom = 1;                      ///< its focal length, relative to that of the left camera
  double focal = 1;                     ///< of both; known if the cameras are calibrated

  friend bool operator==(const RigRotation&, const RigRotation&) = default;
};

/// Returns R, row by row.
std::array<double, 9> rotation_of(const RigRotation& turn);

/// Returns the place in the right picture of what the other camera would see at (x, y), and the
/// other way round.
std::array<double, 2> turned_place(const RigRotation& turn, double x, double y);
std::array<double, 2> upright_place(const RigRotation& turn, double x, double y);

/// Returns the yaw with which a turn would let what the right camera sees at (x, y) be seen by the
/// other camera in a column: upright_place(turn with that yaw, x, y).x.
double yaw_for_column(const RigRotation& turn, double x, double y, double column);

/// What is known before a fit: the most likely turn and the standard deviations of pitch, yaw,
/// roll, zoom and the logarithm of focal from it. 0 stands for one that is known exactly.
struct MountPrior {
  static constexpr int unknowns = 5;

  RigRotation turn;
  std::array<double, unknowns> deviations{};
};

/// The unknowns are in the order of MountPrior, and the noise is in focal lengths.
struct MountFit : FitQuality<MountPrior::unknowns> {
  RigRotation turn;
};

/// Fits the turn by the rows of the points alone: a camera that has not turned sees them in the row
/// of the left one. fit_robustly() with the residuals upright_place().y − left_y.
MountFit fit_mount(const std::vector<MatchedPoint>& points, const MountPrior& prior,
                   double min_noise);

/// Returns 9×9 points that are spread evenly over a picture, from edge to edge, and that the right
/// camera sees at the same places.
std::vector<MatchedPoint> places_in(double half_width, double half_height);

/// Returns how far apart the rows of the left and of the right picture lie, over places_in() it, if
/// the right camera has turned as a fit says, and its pictures are rectified as if it had turned as
/// `corrected` says. half_width and half_height are those of the picture.
RowsApart rows_apart(const MountFit& fit, const RigRotation& corrected, double half_width,
                     double half_height);

}  // namespace cudavision::rig
