// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/remap/remap.h"
#include "gst/sgmstereo/rectification/calibration.h"

/// From the calibration of two cameras to maps that rectify their frames.
namespace cudavision {

/// The numbers of a remap::Map, which give each pixel of a rectified picture its place in the
/// camera's. Places beyond the range of the numbers are (−1, −1).
struct RectifyingMap {
  std::vector<std::int16_t> places;
  std::vector<std::uint16_t> fractions;

  /// The size is that of the rectified picture.
  remap::Map view(int width, int height) const {
    return {{places.data(), 2 * width, height, std::ptrdiff_t{4} * width},
            {fractions.data(), width, height, std::ptrdiff_t{2} * width}};
  }
};

/// A camera and its rectification, for frames of the size that a Rectification is for.
struct RectifiedCamera {
  CameraModel model = CameraModel::pinhole;
  CameraCalibration camera;
  CameraRectification rectification;
};

struct Rectification {
  RectifyingMap left;  ///< empty if left pictures are matched as they are
  RectifyingMap right;
  RectifiedCamera left_camera, right_camera;
  double focal_length = 0;  ///< of the rectified pictures, in pixels; 0: unknown
  double baseline = 0;      ///< mm; 0: unknown
};

/// Makes the rectification for frames of width×height. They may be larger or smaller than the
/// pictures of the calibration, if they show the same and have the same aspect ratio to a pixel. A
/// calibration without a size counts as one of frames of this size.
///
/// alpha of −1 takes the rectification of the files if they have one, else the default of
/// cv::stereoRectify(). From 0 (all pixels have a source in the camera's picture) to 1 (all pixels
/// of the camera's picture are kept), it always makes a new one by cv::stereoRectify(), or with
/// balance = alpha by cv::fisheye::stereoRectify(), which only estimates what 0 and 1 promise. A
/// point at infinity has the disparity 0: if the files have two principal points, both cameras get
/// the left one's.
///
/// Throws ElementError if the frames do not fit the calibration.
Rectification make_rectification(const StereoCalibration& calibration, int width, int height,
                                 double alpha);

/// Returns a camera whose frames of width×height are rectified already.
inline RectifiedCamera identity_camera(int width, int height, double focal_length) {
  const double x = (width - 1) / 2.0, y = (height - 1) / 2.0;
  RectifiedCamera camera;
  camera.camera.matrix = {focal_length, 0, x, 0, focal_length, y, 0, 0, 1};
  camera.rectification.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  camera.rectification.projection = {focal_length, 0, x, 0, 0, focal_length, y, 0, 0, 0, 1, 0};
  return camera;
}

/// Throws ElementError in a build without OpenCV. what needs it: the name of a property.
void require_opencv(const std::string& what);

/// Returns where a camera sees what lies at places of the rectified picture, in pixels of both.
std::vector<std::array<double, 2>> camera_places(const RectifiedCamera& camera,
                                                 const std::vector<std::array<double, 2>>& places);

/// Makes the map of a plane of width×height samples, one for each subsampling_x×subsampling_y
/// pixels, which lies at their centre: OpenCV's map for camera matrices that are scaled to the
/// plane. With 1 and 1, it is the map of the frames. Throws ElementError.
RectifyingMap make_plane_map(const RectifiedCamera& camera, int width, int height,
                             int subsampling_x, int subsampling_y);

}  // namespace cudavision
