// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <vector>

#include "gst/sgmstereo/rig/geometry/mountfit.h"
#include "gst/sgmstereo/rig/geometry/robustfit.h"

/// Estimates how two cameras and their lenses differ, from points that both see. Runs on the CPU.
namespace cudavision::rig {

/// Two cameras of one make without a calibration. The left camera sees the direction p = (x, y, 1),
/// with x right and y down, at the position distorted(x, y) + (0, left_row). The right camera is
/// rotated and sees the direction q at zoom·distorted(q.x / q.z, q.y / q.z) + (0, right_row).
/// Positions are relative to the middle of the picture, in focal lengths of the left camera, as in
/// MatchedPoint. The rows of the principal points matter, because distortion is centred there;
/// their columns hardly affect rows.
///
/// distorted(x, y) = (1 + k1·r² + k2·r⁴)·(x, y), where r² = x² + y².
struct CameraPair {
  double pitch = 0, yaw = 0, roll = 0;  ///< of the right camera, see RigRotation; radians
  double zoom = 1;
  double k1 = 0, k2 = 0;  ///< of both lenses
  /// The right camera is 1 to the right of the left camera, `below` lower and `before` in front.
  double below = 0, before = 0;
  double left_row = 0, right_row = 0;  ///< of the principal points

  friend bool operator==(const CameraPair&, const CameraPair&) = default;

  static constexpr std::size_t unknowns = 10;
};

/// Returns the radius r whose distorted radius is r·(1 + k1·r² + k2·r⁴) = distorted. If there is
/// none, returns the largest radius at which the distorted radius still grows.
double undistorted_radius(const CameraPair& pair, double distorted);

/// Returns true if distorted radii grow with the radius up to this distorted radius.
bool is_one_to_one(const CameraPair& pair, double distorted_radius);

/// Unknowns are in the order of CameraPair; the noise is in focal lengths.
struct CameraPairFit : FitQuality<CameraPair::unknowns> {
  CameraPair pair;
};

/// Returns how much lower the right camera sees the point than the left camera, in focal lengths.
/// The pictures are rectified as by cv::stereoRectify(): each camera turns by half of the rotation,
/// and both so that rows are parallel to the baseline.
double row_difference(const CameraPair& pair, const MatchedPoint& point);

/// Fits a pair to the points by fit_robustly() of their row differences. The priors suit cameras
/// that were mounted roughly parallel by hand: some degrees, lens centres some hundredths of the
/// picture off its middle, no fisheye lenses. Rows depend little on yaw and on the distance in
/// front, so mostly these priors limit them.
CameraPairFit fit_camera_pair(const std::vector<MatchedPoint>& points, double min_noise);

RowsApart rows_apart(const CameraPairFit& fit, const std::vector<MatchedPoint>& points);

}  // namespace cudavision::rig
