// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <vector>

#include "gst/sgmstereo/rig/geometry/mountfit.h"
#include "gst/sgmstereo/rig/geometry/robustfit.h"

/// How two cameras that stand side by side differ, and how their lenses distort, from points that
/// both see. Runs on the CPU, whatever device matches the pictures.
namespace cudavision::rig {

/// Two cameras of one make without a calibration. The left one sees what lies in the direction p =
/// (x, y, 1), with x to the right and y down, at the place distorted(x, y) + (0, left_row), and the
/// right one what lies in the direction q, as it has turned, at zoom·distorted(q.x / q.z, q.y /
/// q.z)
/// + (0, right_row). Places are measured from the middle of the picture, in focal lengths of the
/// left camera, as they are in its MatchedPoint. The rows of the principal points matter, because a
/// lens distorts around its own; their columns hardly change a row.
///
/// distorted(x, y) = (1 + k1·r² + k2·r⁴)·(x, y), where r² = x² + y².
struct CameraPair {
  double pitch = 0, yaw = 0, roll = 0;  ///< of the right camera, see RigRotation; radians
  double zoom = 1;
  double k1 = 0, k2 = 0;  ///< of both lenses
  /// Where the right camera stands: 1 to the right of the left one, so much lower, and so much
  /// farther in front.
  double below = 0, before = 0;
  double left_row = 0, right_row = 0;  ///< of the principal points

  friend bool operator==(const CameraPair&, const CameraPair&) = default;

  static constexpr std::size_t unknowns = 10;
};

/// Returns the radius r whose distorted radius is r·(1 + k1·r² + k2·r⁴) = distorted, or the largest
/// one at which the radius still grows if there is none.
double undistorted_radius(const CameraPair& pair, double distorted);

/// Returns true if a lens with this distortion makes a picture in which radii grow up to this one.
bool is_one_to_one(const CameraPair& pair, double distorted_radius);

/// The unknowns are in the order of CameraPair, and the noise is in focal lengths.
struct CameraPairFit : FitQuality<CameraPair::unknowns> {
  CameraPair pair;
};

/// Returns how much lower the right camera sees the point than the left one, once the pictures of
/// such a pair are rectified as cv::stereoRectify() does it: each camera turns by half of the
/// rotation, and both so that rows lie along the baseline. In focal lengths.
double row_difference(const CameraPair& pair, const MatchedPoint& point);

/// Fits a pair to the points by fit_robustly() of their row differences, from deviations that
/// cameras have that were mounted roughly parallel by hand: some degrees, centres of lenses some
/// hundredths of the picture away from its middle, and no fisheye lenses. A yaw, or a right camera
/// that stands in front of the left one, moves rows by little, so that mostly these deviations
/// limit them.
CameraPairFit fit_camera_pair(const std::vector<MatchedPoint>& points, double min_noise);

/// Returns how far apart the rows of these points lie by a fit.
RowsApart rows_apart(const CameraPairFit& fit, const std::vector<MatchedPoint>& points);

}  // namespace cudavision::rig
