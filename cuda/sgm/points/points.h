// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/sgm/sgmstereo.h"

/// Converts disparity maps to points in space.
namespace cudavision::sgm {

/// The matrix Q of OpenCV's stereoRectify(), row-major. For a pixel (x, y) of disparity d,
/// (X·W, Y·W, Z·W, W) = Q·(x, y, d, 1) gives the point (X, Y, Z). X points right, Y down, and Z
/// away from the left camera, in the unit of the baseline.
using Reprojection = std::array<std::array<double, 4>, 4>;

/// Returns Q of two parallel cameras with square pixels and the principal point at ((width − 1)/2,
/// (height − 1)/2). focal_length is in pixels. Points have the unit of baseline.
Reprojection reprojection_of(double focal_length, double baseline, int width, int height) noexcept;

/// Computes an organised point cloud: one point of three binary32 numbers per pixel. Let
/// d = v / DisparityScale::per_pixel for the map value v. Points are computed in binary64, with
/// every operation rounded to nearest and in this order:
///   h[i] = (((0 + Q[i][0]·x) + Q[i][1]·y) + Q[i][2]·d) + Q[i][3] for each row i of Q
///   r = 1 / h[3]
///   (h[0]·r, h[1]·r, h[2]·r), each rounded once to binary32
/// A point is unknown if v is invalid, if h[3] is not positive (infinitely far away, or behind the
/// cameras), or if r is infinite. Unknown points have three quiet NaNs, 0x7fc00000.
///
/// OpenCV's reprojectImageTo3D() computes the same points, but also rounds before the division,
/// which sometimes changes the last bit.
class Points {
 public:
  static constexpr int bytes_per_point = 12;

  /// width and height of the maps are 1 to 65535. `parameters` describes the maps. Throws
  /// invalid_argument for an invalid size, and in the same cases as set().
  Points(Device& device, int width, int height, const Parameters& parameters,
         const Reprojection& reprojection);
  ~Points();

  /// Takes effect with the next run() and never allocates. Throws invalid_argument and keeps the
  /// last valid values if parameters are invalid, or an element of the matrix is not within ±1e30.
  void set(const Parameters& parameters, const Reprojection& reprojection);

  /// disparity comes from SgmStereo::run(). points has rows of 12·width bytes. Only enqueues.
  void run(View<const std::uint8_t> disparity, View<std::uint8_t> points);

  class Backend;

 private:
  int width_;
  int height_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::sgm
