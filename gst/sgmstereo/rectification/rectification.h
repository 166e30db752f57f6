// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/remap/remap.h"
#include "gst/sgmstereo/rectification/calibration.h"

namespace cudavision {

/// The source position of each rectified pixel, for a remap::Map. (−1, −1) is outside the picture.
struct RectifyingMap {
  std::vector<std::int16_t> places;
  std::vector<std::uint16_t> fractions;

  remap::Map view(int width, int height) const {
    return {{places.data(), 2 * width, height, std::ptrdiff_t{4} * width},
            {fractions.data(), width, height, std::ptrdiff_t{2} * width}};
  }
};

/// A camera and its rectification, for one frame size.
struct RectifiedCamera {
  CameraModel model = CameraModel::pinhole;
  CameraCalibration camera;
  CameraRectification rectification;
};

struct Rectification {
  RectifyingMap left;  ///< empty if left pictures are not remapped
  RectifyingMap right;
  RectifiedCamera left_camera, right_camera;
  double focal_length = 0;  ///< focal length of rectified pictures, in pixels; 0: unknown
  double baseline = 0;      ///< mm; 0: unknown
};

/// Makes the rectification for frames of width×height. If the calibration has a picture size, it is
/// scaled to the frames, whose aspect ratio must be the same to within a pixel.
///
/// alpha = −1 uses the rectification of the calibration files or, if there is none, the default of
/// cv::stereoRectify(). Other values call cv::stereoRectify() with alpha from 0 (all rectified
/// pixels have a source) to 1 (all source pixels are kept). The fisheye model has no alpha, so
/// cv::fisheye::stereoRectify() gets balance = alpha, or 0 for −1. Both cameras get the left
/// principal point, so that points at infinity have disparity 0.
///
/// Throws ElementError if the frames do not fit the calibration or the cameras cannot be rectified.
Rectification make_rectification(const StereoCalibration& calibration, int width, int height,
                                 double alpha);

/// Returns a camera whose frames of width×height are already rectified.
inline RectifiedCamera identity_camera(int width, int height, double focal_length) {
  const double x = (width - 1) / 2.0, y = (height - 1) / 2.0;
  RectifiedCamera camera;
  camera.camera.matrix = {focal_length, 0, x, 0, focal_length, y, 0, 0, 1};
  camera.rectification.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  camera.rectification.projection = {focal_length, 0, x, 0, 0, focal_length, y, 0, 0, 0, 1, 0};
  return camera;
}

/// Throws ElementError in a build without OpenCV. `what` is the property that needs OpenCV.
void require_opencv(const std::string& what);

using Positions = std::vector<std::array<double, 2>>;  ///< x and y in pixels

/// Converts positions in the rectified picture to positions in the camera's picture.
Positions camera_positions(const RectifiedCamera& camera, const Positions& rectified);

/// Converts positions in the camera's picture to positions in the rectified picture. Inverts the
/// distortion by iteration. Positions outside the lens model may get wrong or infinite results.
Positions rectified_positions(const RectifiedCamera& camera, const Positions& seen);

/// Makes the map of a plane of width×height samples, each at the centre of
/// subsampling_x×subsampling_y pixels: OpenCV's map for scaled camera matrices. A subsampling of
/// 1×1 gives the map of the frames. Throws ElementError if OpenCV cannot compute the map.
RectifyingMap make_plane_map(const RectifiedCamera& camera, int width, int height,
                             int subsampling_x, int subsampling_y);

}  // namespace cudavision
