// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rectification/calibration.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <sstream>

#include "gst/core/elementerror.h"
#include "gst/core/text.h"
#include "gst/core/videoformat.h"
#include "gst/sgmstereo/rectification/calibrationfile.h"

namespace cudavision {
namespace {

Matrix3x3 camera_matrix_in(const CalibrationEntry& entry) {
  const Matrix3x3 m = array_in<9>(entry);
  if (!(m[0] > 0 && m[4] > 0) || m[6] != 0 || m[7] != 0 || m[8] != 1)
    entry.refuse(
        "is not a camera matrix with two positive focal lengths and the last row 0 0 1: calibrate "
        "the camera again.");
  return m;
}

Matrix3x3 rotation_in(const CalibrationEntry& entry) {
  const Matrix3x3 r = array_in<9>(entry);
  const auto dot = [&](int i, int j) {
    return r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2];
  };
  double error = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      error = std::max(error, std::abs(dot(i, j) - (i == j)));
  const double determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) -
                             r[1] * (r[3] * r[8] - r[5] * r[6]) +
                             r[2] * (r[3] * r[7] - r[4] * r[6]);
  if (error > 1e-3 || determinant < 0)
    entry.refuse("is not a rotation matrix: copy it from the calibration with all digits.");
  return r;
}

Matrix3x4 projection_in(const CalibrationEntry& entry) {
  const Matrix3x4 p = array_in<12>(entry);
  if (!(p[0] > 0 && p[5] > 0) || p[8] != 0 || p[9] != 0 || p[10] != 1 || p[11] != 0)
    entry.refuse(
        "is not a projection matrix of a rectified camera, with two positive focal lengths and the "
        "last row 0 0 1 0: calibrate the pair again.");
  return p;
}

CameraModel model_in(const CalibrationEntry& entry) {
  const std::string name = entry.node.string();
  if (name == "pinhole" || name == "plumb_bob" || name == "rational_polynomial")
    return CameraModel::pinhole;
  if (name == "fisheye" || name == "equidistant")
    return CameraModel::fisheye;
  entry.refuse("\"" + name +
               "\" is unknown: calibrate with pinhole, plumb_bob, rational_polynomial, fisheye or "
               "equidistant.");
}

std::vector<double> distortion_in(const CalibrationEntry& entry, CameraModel model) {
  const std::vector<double> numbers = numbers_in(entry);
  const std::size_t count = numbers.size();
  if (model == CameraModel::fisheye
          ? count == 4
          : count == 0 || count == 4 || count == 5 || count == 8 || count == 12 || count == 14)
    return numbers;
  entry.refuse("holds " + std::to_string(count) + " numbers, but " +
               (model == CameraModel::fisheye ? "the fisheye model has 4"
                                              : "the pinhole model has 4, 5, 8, 12 or 14") +
               ": correct distortion_model, or calibrate again.");
}

/// Minimum baseline in the file's unit. If it is smaller, one camera was calibrated twice.
constexpr double min_distance = 1e-6;

/// (x, y) is the right camera's position in the left camera's coordinates.
void check_position(const CalibrationEntry& entry, double x, double y) {
  if (std::hypot(x, y) < min_distance)
    entry.refuse("puts both cameras at the same place: calibrate them as a stereo pair.");
  if (std::abs(y) > std::abs(x))
    entry.refuse(
        "puts one camera above the other, but disparities are searched along rows: rotate all "
        "frames by 90 degrees, for example with videoflip, and calibrate again.");
  if (x < 0)
    entry.refuse(
        "puts the right camera to the left of the left camera: exchange the cameras, and calibrate "
        "again.");
}

void check_rectified_pair(const CalibrationEntry& left, const CalibrationEntry& right,
                          const Matrix3x4& p1, const Matrix3x4& p2) {
  const auto near = [&](int i) { return std::abs(p1[i] - p2[i]) <= 1e-3 * p1[0]; };
  const auto numbers_of = [](const Matrix3x4& p) {
    return number_text(p[0], 2) + ", " + number_text(p[5], 2) + ", " + number_text(p[6], 2);
  };
  if (std::abs(p1[3]) > 1e-6 * p1[0] || std::abs(p1[7]) > 1e-6 * p1[5])
    left.refuse(
        "belongs to the second camera of a pair, because its fourth column is not 0: exchange the "
        "calibrations of the left and the right camera.");
  if (!near(0) || !near(5) || !near(6))
    right.refuse(
        "and " + left.key + " of " + left.file + " must have the same fx, fy and cy, not " +
        numbers_of(p2) + " and " + numbers_of(p1) +
        ": use both matrices of one stereo calibration, or calibrate the cameras as a pair.");
  check_position(right, -p2[3] / p2[0], -p2[7] / p2[5]);
}

CameraPose pose_in(const CalibrationEntry& rotation, const CalibrationEntry& translation) {
  const CameraPose pose{rotation_in(rotation), array_in<3>(translation)};
  const Matrix3x3& r = pose.rotation;
  const auto& t = pose.translation;
  check_position(translation, -(r[0] * t[0] + r[3] * t[1] + r[6] * t[2]),
                 -(r[1] * t[0] + r[4] * t[1] + r[7] * t[2]));
  return pose;
}

CameraPose pose_of(const CameraRectification& left, const CameraRectification& right) {
  const Matrix3x3 &r1 = left.rotation, &r2 = right.rotation;
  const double t = right.projection[3] / right.projection[0];
  CameraPose pose;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      pose.rotation[3 * i + j] = r2[i] * r1[j] + r2[3 + i] * r1[3 + j] + r2[6 + i] * r1[6 + j];
    pose.translation[i] = r2[i] * t;
  }
  return pose;
}

void scale_lengths(StereoCalibration& calibration, double factor) {
  for (double& length : calibration.pose.translation)
    length *= factor;
  if (calibration.right.rectification)
    for (int row = 0; row < 3; ++row)
      calibration.right.rectification->projection[4 * row + 3] *= factor;
}

void read_size(const CalibrationText& text, StereoCalibration& calibration) {
  if (const auto size = text.find({"image_size", "imageSize"})) {
    if (!size->node.isSeq() || size->node.size() != 2)
      size->refuse("is not a pair of numbers: write [ width, height ].");
    calibration.width = size_in(*size, size->node[0]);
    calibration.height = size_in(*size, size->node[1]);
    return;
  }
  if (!text.find({"image_width", "image_height"}))
    return;
  const auto need = [&](const char* key) {
    return text.require({key}, "write both image_width and image_height, in pixels.");
  };
  const CalibrationEntry width = need("image_width"), height = need("image_height");
  calibration.width = size_in(width, width.node);
  calibration.height = size_in(height, height.node);
}

CameraModel read_model(const CalibrationText& text) {
  if (const auto model = text.find({"distortion_model"}))
    return model_in(*model);
  const auto fisheye = text.find({"fisheye"});
  if (!fisheye)
    return CameraModel::pinhole;
  if (!fisheye->node.isInt())
    fisheye->refuse("is neither 0 nor 1: write 1 for fisheye lenses, else 0.");
  return fisheye->node.real() != 0 ? CameraModel::fisheye : CameraModel::pinhole;
}

double read_unit(const CalibrationText& text, const StereoCalibration& calibration) {
  if (const auto unit = text.find({"unit"})) {
    const std::string name = unit->node.string();
    for (const auto& [known, factor] :
         {std::pair{"mm", 1.0}, std::pair{"cm", 10.0}, std::pair{"m", 1000.0}})
      if (name == known)
        return factor;
    unit->refuse("\"" + name + "\" is unknown: write \"mm\", \"cm\" or \"m\".");
  }
  const auto& t = calibration.pose.translation;
  return std::hypot(t[0], t[1], t[2]) < 1.5 ? 1000 : 1;
}

void read_rectifications(const CalibrationText& text, StereoCalibration& calibration) {
  if (!text.find({"R1", "R2", "P1", "P2"}))
    return;
  const auto need = [&](const char* key) {
    return text.require({key}, "write R1, R2, P1 and P2, or only R and T.");
  };
  const CalibrationEntry r1 = need("R1"), r2 = need("R2"), p1 = need("P1"), p2 = need("P2");
  calibration.left.rectification = {rotation_in(r1), projection_in(p1)};
  calibration.right.rectification = {rotation_in(r2), projection_in(p2)};
  check_rectified_pair(p1, p2, calibration.left.rectification->projection,
                       calibration.right.rectification->projection);
}

StereoCalibration read_opencv(const std::vector<std::string>& names) {
  const CalibrationText text(names);
  if (text.find({"projection_matrix"}))
    refuse_calibration(text.names(),
                       "this is ROS's camera_info of one camera: set calibration-left and "
                       "calibration-right instead of calibration.");
  StereoCalibration calibration;
  calibration.files = text.names();
  read_size(text, calibration);
  calibration.model = read_model(text);
  const auto need = [&](std::initializer_list<const char*> keys) {
    return text.require(
        keys,
        "write the results of cv::stereoCalibrate(), as OpenCV's example stereo_calib does, or use "
        "pipelines/calibrate.py of the package gst-cudavision-tools. If the results are in two "
        "files, set both names, separated by a comma.");
  };
  calibration.left.matrix = camera_matrix_in(need({"M1", "K1", "cameraMatrix1"}));
  calibration.right.matrix = camera_matrix_in(need({"M2", "K2", "cameraMatrix2"}));
  calibration.left.distortion = distortion_in(need({"D1", "distCoeffs1"}), calibration.model);
  calibration.right.distortion = distortion_in(need({"D2", "distCoeffs2"}), calibration.model);
  read_rectifications(text, calibration);
  if (calibration.left.rectification && !text.find({"R", "T"})) {
    calibration.pose = pose_of(*calibration.left.rectification, *calibration.right.rectification);
  } else {
    const CalibrationEntry rotation = need({"R"}), translation = need({"T"});
    calibration.pose = pose_in(rotation, translation);
  }
  scale_lengths(calibration, read_unit(text, calibration));
  if (const auto error = text.find({"reprojection_error"});
      error && (error->node.isReal() || error->node.isInt()))
    calibration.reprojection_error = error->node.real();
  return calibration;
}

struct CameraInfo {
  CameraModel model;
  int width, height;
  CameraCalibration camera;
  CalibrationEntry projection;
};

CameraInfo read_camera_info(const char* name) {
  const CalibrationText text({name});
  if (text.find({"M1", "K1", "cameraMatrix1"}))
    refuse_calibration(text.names(),
                       "this is a calibration of both cameras: set calibration instead of "
                       "calibration-left and calibration-right.");
  const auto need = [&](const char* key) {
    return text.require(
        {key}, "write the camera_info of a stereo pair, as ROS's camera_calibration does.");
  };
  const CalibrationEntry width = need("image_width"), height = need("image_height");
  CameraInfo info{model_in(need("distortion_model")),
                  size_in(width, width.node),
                  size_in(height, height.node),
                  {},
                  need("projection_matrix")};
  info.camera.matrix = camera_matrix_in(need("camera_matrix"));
  info.camera.distortion = distortion_in(need("distortion_coefficients"), info.model);
  info.camera.rectification = {rotation_in(need("rectification_matrix")),
                               projection_in(info.projection)};
  return info;
}

StereoCalibration read_ros(const char* left_name, const char* right_name) {
  const CameraInfo left = read_camera_info(left_name), right = read_camera_info(right_name);
  const auto sizes = [](const CameraInfo& info) { return size_text(info.width, info.height); };
  if (sizes(left) != sizes(right))
    refuse_calibration(right_name, "this calibration is for pictures of " + sizes(right) +
                                       ", but " + left_name + " is for " + sizes(left) +
                                       ": calibrate both cameras at one size.");
  if (left.model != right.model)
    refuse_calibration(right_name, std::string("distortion_model differs from ") + left_name +
                                       ": calibrate both cameras with one model.");
  check_rectified_pair(left.projection, right.projection, left.camera.rectification->projection,
                       right.camera.rectification->projection);
  StereoCalibration calibration;
  calibration.model = left.model;
  calibration.left = left.camera;
  calibration.right = right.camera;
  calibration.pose = pose_of(*left.camera.rectification, *right.camera.rectification);
  calibration.width = left.width;
  calibration.height = left.height;
  calibration.files = std::string(left_name) + " and " + right_name;
  scale_lengths(calibration, 1000);
  return calibration;
}

/// Splits the list at commas, unless it is the name of an existing file.
std::vector<std::string> split_names(const std::string& list) {
  if (g_file_test(list.c_str(), G_FILE_TEST_EXISTS))
    return {list};
  std::vector<std::string> names;
  std::istringstream parts(list);
  for (std::string name; std::getline(parts, name, ',');)
    if (!name.empty())
      names.push_back(name);
  return names.empty() ? std::vector{list} : names;
}

}  // namespace

void require_one_form(const CalibrationFiles& files) {
  const auto refuse = [](const char* what) {
    throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, what);
  };
  if (*files.stereo && (*files.left || *files.right))
    refuse(
        "calibration excludes calibration-left and calibration-right: set either calibration "
        "or the other two.");
  if (!*files.stereo && !(*files.left && *files.right))
    refuse(*files.left
               ? "calibration-left is set without calibration-right: set both, or neither."
               : "calibration-right is set without calibration-left: set both, or neither.");
}

StereoCalibration read_calibration(const CalibrationFiles& files) {
  require_one_form(files);
  try {
    return *files.stereo ? read_opencv(split_names(files.stereo))
                         : read_ros(files.left, files.right);
  } catch (const cv::Exception& e) {
    refuse_calibration(
        *files.stereo ? files.stereo : std::string(files.left) + " and " + files.right,
        "OpenCV cannot read this file (" + e.err +
            "): write it with cv::FileStorage or pipelines/calibrate.py.");
  }
}

}  // namespace cudavision
