// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <string>

#include "tests/check/common/stereoharness.h"
#include "tests/check/common/temporaryfile.h"

/// A scene of known depth seen by two distorted cameras, and their calibration, without OpenCV.
namespace check {

constexpr int camera_width = 320, camera_height = 240;
// The camera geometry of the rectified pictures: the baseline in mm, other values in pixels.
constexpr double rectified_focal_length = 260, rectified_baseline = 90;
constexpr double rectified_center_x = 158.25, rectified_center_y = 121.5;

struct Vector {
  double x, y, z;
};

using Rotation = std::array<double, 9>;

/// A distorted camera. `turned` rotates the camera's coordinates into the rectified pair's.
struct Camera {
  bool fisheye;
  double fx, fy, cx, cy;
  std::array<double, 5> distortion;  ///< k1 k2 p1 p2 k3; fisheye: k1 k2 k3 k4
  Rotation turned;
  double position;  ///< position on the rectified pair's x axis, in mm

  std::array<double, 2> projected(double x, double y) const;
  /// Returns the viewing direction of a pixel, in the coordinates of the rectified pair.
  Vector direction(double u, double v) const;
  /// Maps coordinates in the rectified picture to this camera's picture.
  std::array<double, 2> source(double u, double v, double focal = rectified_focal_length) const;
};

Camera left_camera(bool fisheye);
Camera right_camera(bool fisheye);
Camera ideal_camera(double position);

/// A plane, given by its disparity at the principal point and its slopes per pixel.
struct Plane {
  double middle, slope_x = 0, slope_y = 0;

  double disparity(int u, int v) const {
    return middle + slope_x * (u - rectified_center_x) + slope_y * (v - rectified_center_y);
  }
  /// Returns the plane's point that a camera at `position` sees in `direction`.
  Vector seen(double position, const Vector& direction) const;
  /// Returns the texture at a point: waves that are 5 to 25 pixels long near the centre.
  double brightness(const Vector& point) const;
};

struct Photographs {
  Camera left_of, right_of;
  Plane plane;
  Picture left, right;

  Photographs(bool fisheye, const Plane& seen, const char* format = "GRAY8");
  Photographs(const Camera& left_camera, const Camera& right_camera, const Plane& seen,
              const char* format = "GRAY8");
};

struct CalibrationFile : TemporaryFile {
  /// `more`: further lines. `focal` and `baseline`: lengths of the rectified pictures.
  explicit CalibrationFile(bool fisheye, const std::string& more = "unit: mm\n",
                           double focal = rectified_focal_length,
                           double baseline = rectified_baseline);
  Property property() const { return {"calibration", name()}; }
};

/// Returns why tests of a calibration cannot run; empty if they can.
std::string unless_built_with_opencv();
/// Also returns a reason under a sanitizer, where long streams and photographs are too slow.
std::string unless_fast();

}  // namespace check
