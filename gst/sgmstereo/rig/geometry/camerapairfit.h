// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "gst/sgmstereo/rig/geometry/mountfit.h"
#include "gst/sgmstereo/rig/geometry/robustfit.h"

/// Fits a model of two cameras and their lenses to points that both cameras see.
namespace cudavision::rig {

/// Two uncalibrated cameras of the same model. The left camera sees the direction p = (x, y, 1),
/// with x right and y down, at the position distorted(x, y) + (0, left_row). The right camera sees
/// the rotated direction q at zoom·distorted(q.x / q.z, q.y / q.z) + (0, right_row), where
/// distorted(x, y) = (1 + k1·r² + k2·r⁴)·(x, y) and r² = x² + y². Here, MatchedPoint has positions
/// relative to the middle of the picture, in focal lengths of the left camera. The columns of the
/// principal points hardly affect rows, so they are not fitted.
struct CameraPair {
  double pitch = 0, yaw = 0, roll = 0;  ///< right camera's rotation; see RigRotation
  double zoom = 1;
  double k1 = 0, k2 = 0;  ///< distortion of both lenses
  /// The position of the right camera is (1, below, before) in the left camera's coordinates.
  double below = 0, before = 0;
  double left_row = 0, right_row = 0;  ///< rows of the principal points

  friend bool operator==(const CameraPair&, const CameraPair&) = default;

  static constexpr std::size_t unknowns = 10;
};

/// Returns r for which r·(1 + k1·r² + k2·r⁴) = distorted. If there is no such r, returns the
/// largest radius at which the distorted radius still grows.
double undistorted_radius(const CameraPair& pair, double distorted);

/// Returns true if the distorted radius grows with the radius until it reaches distorted_radius.
bool is_one_to_one(const CameraPair& pair, double distorted_radius);

/// The unknowns are in the order of CameraPair, and the noise is in focal lengths.
struct CameraPairFit : FitQuality<CameraPair::unknowns> {
  CameraPair pair;
};

/// Returns how much lower the right camera sees the point than the left camera, in focal lengths.
/// The pictures are rectified as by cv::stereoRectify(): each picture is rotated by half the
/// rotation, and then both pictures are rotated until their rows are parallel to the baseline.
double row_difference(const CameraPair& pair, const MatchedPoint& point);

/// Calls fit_robustly() for the row differences. The priors suit cameras that were mounted roughly
/// parallel by hand and have no fisheye lenses. yaw and `before` affect rows little, so they follow
/// mostly from the priors.
CameraPairFit fit_camera_pair(const std::vector<MatchedPoint>& points, double min_noise);

RowsApart rows_apart(const CameraPairFit& fit, const std::vector<MatchedPoint>& points);

}  // namespace cudavision::rig
