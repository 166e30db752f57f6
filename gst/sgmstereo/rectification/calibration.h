// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "gst/sgmstereo/stereosettings.h"

/// Calibrations of stereo cameras by OpenCV and ROS, in millimetres, with row-major matrices. Axes
/// are OpenCV's: x right, y down, z forward, the centre of the first pixel at 0.
namespace cudavision {

enum class CameraModel {
  pinhole,  ///< 0, 4, 5, 8, 12 or 14 distortion coefficients, as in calibrateCamera()
  fisheye,  ///< 4 distortion coefficients, as in fisheye::calibrate() (Kannala & Brandt, 2006)
};

using Matrix3x3 = std::array<double, 9>;
using Matrix3x4 = std::array<double, 12>;

/// Rotates a camera's coordinates to rectified coordinates, and projects them to pixels.
struct CameraRectification {
  Matrix3x3 rotation{};
  Matrix3x4 projection{};  ///< [3] is −focal length·baseline (right camera) or 0 (left camera)
};

struct CameraCalibration {
  Matrix3x3 matrix{};
  std::vector<double> distortion;
  std::optional<CameraRectification> rectification;
};

/// Converts left camera coordinates x to right camera coordinates: rotation·x + translation.
struct CameraPose {
  Matrix3x3 rotation{};
  std::array<double, 3> translation{};  ///< mm
};

struct StereoCalibration {
  CameraModel model = CameraModel::pinhole;
  CameraCalibration left, right;  ///< both or neither have a rectification
  CameraPose pose;
  int width = 0, height = 0;      ///< size of the calibration's pictures; 0: unknown
  double reprojection_error = 0;  ///< root mean square, in pixels; 0: unknown
  std::string files;              ///< names for messages
};

/// Throws ElementError unless either `stereo` or both `left` and `right` are set.
void require_one_form(const CalibrationFiles& files);

/// Reads the files. OpenCV's keys are M1 D1 M2 D2 (or K1 …, cameraMatrix1, distCoeffs1 …), and R T
/// or R1 R2 P1 P2 or all of these, as in OpenCV's example stereo_calib. Optional keys are
/// - image_width and image_height, or image_size or imageSize, a pair of numbers;
/// - distortion_model: "pinhole" (default), "fisheye" or ROS's name; or the key fisheye: 0 or 1;
/// - unit, the unit of T: "mm", "cm" or "m". If it is missing, T is in metres if shorter than 1.5,
///   otherwise in millimetres;
/// - reprojection_error, as pipelines/calibrate.py writes it.
///
/// ROS's camera_info has the keys image_width, image_height, camera_matrix, distortion_model
/// (plumb_bob, rational_polynomial or equidistant), distortion_coefficients, rectification_matrix
/// and projection_matrix. Lengths in camera_info are in metres.
///
/// Throws ElementError if a file cannot be read, lacks a key, or has an impossible value, if the
/// right camera is not to the right of the left camera, and in builds without OpenCV.
StereoCalibration read_calibration(const CalibrationFiles& files);

}  // namespace cudavision
