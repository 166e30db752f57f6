// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "gst/sgmstereo/stereosettings.h"

/// Calibrations of stereo cameras, as written by OpenCV and ROS, in millimetres; matrices are row
/// by row. Axes are OpenCV's: x right, y down, z forward, the first pixel's centre at 0.
namespace cudavision {

enum class CameraModel {
  pinhole,  ///< with 0, 4, 5, 8, 12 or 14 coefficients of distortion, as in calibrateCamera()
  fisheye,  ///< with 4, as in fisheye::calibrate() (Kannala & Brandt, 2006)
};

using Matrix3x3 = std::array<double, 9>;
using Matrix3x4 = std::array<double, 12>;

/// Rotates a camera's coordinates to the rectified pair's, and projects them to pixels.
struct CameraRectification {
  Matrix3x3 rotation{};
  Matrix3x4 projection{};  ///< [3] is −focal length·baseline for the right camera, 0 for the left
};

struct CameraCalibration {
  Matrix3x3 matrix{};
  std::vector<double> distortion;
  std::optional<CameraRectification> rectification;
};

/// Point x in the left camera's coordinates is rotation·x + translation in the right camera's.
struct CameraPose {
  Matrix3x3 rotation{};
  std::array<double, 3> translation{};  ///< mm
};

struct StereoCalibration {
  CameraModel model = CameraModel::pinhole;
  CameraCalibration left, right;  ///< both or neither have a rectification
  CameraPose pose;
  int width = 0, height = 0;      ///< of the calibration's pictures; 0: unknown
  double reprojection_error = 0;  ///< root mean square, in pixels; 0: unknown
  std::string files;              ///< their names, for messages
};

/// Throws ElementError if both forms of files are named, or only a part of one form.
void require_one_form(const CalibrationFiles& files);

/// Reads the files. OpenCV's keys are M1 D1 M2 D2 (or K1 …, cameraMatrix1, distCoeffs1 …), and R T
/// or R1 R2 P1 P2 or all of these, as in its example stereo_calib. Optional are
/// - image_width and image_height, or image_size or imageSize, a pair of numbers;
/// - distortion_model, which is "pinhole" (default) or "fisheye", or fisheye, which is 0 or 1;
/// - unit, in which T is: "mm", "cm" or "m". Without it, T is in metres if it is shorter than 1.5,
///   else in millimetres;
/// - reprojection_error, as pipelines/calibrate.py writes it.
///
/// ROS's camera_info has the keys image_width, image_height, camera_matrix, distortion_model
/// (plumb_bob, rational_polynomial or equidistant), distortion_coefficients, rectification_matrix
/// and projection_matrix. Its lengths are in metres.
///
/// Throws ElementError if a file cannot be read, lacks a key, or has an impossible value. Also
/// throws if the right camera is to the left of the left camera, or if one is above the other.
/// Always throws in a build without OpenCV.
StereoCalibration read_calibration(const CalibrationFiles& files);

}  // namespace cudavision
