// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rectification/rectification.h"

#include <algorithm>
#include <cmath>
#include <opencv2/calib3d.hpp>
#include <opencv2/imgproc.hpp>

#include "gst/core/elementerror.h"
#include "gst/core/videoformat.h"

namespace cudavision {
namespace {

[[noreturn]] void refuse(const StereoCalibration& calibration, const std::string& what) {
  throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     calibration.files + ": " + what);
}

template <std::size_t count>
cv::Mat mat(const std::array<double, count>& array, int rows) {
  return cv::Mat(rows, static_cast<int>(count) / rows, CV_64F, const_cast<double*>(array.data()))
      .clone();
}

template <std::size_t count>
std::array<double, count> array_of(const cv::Mat& matrix) {
  std::array<double, count> array;
  std::copy(matrix.begin<double>(), matrix.end<double>(), array.begin());
  return array;
}

cv::Mat distortion_of(const CameraCalibration& camera) {
  return camera.distortion.empty() ? cv::Mat() : cv::Mat(camera.distortion, true);
}

/// Scales a matrix of `columns` columns to another picture size. The edges of the picture, half a
/// pixel outside the outermost pixel centres, stay edges.
template <class Matrix>
void scale_pixels(Matrix& matrix, int columns, double x, double y) {
  for (int column = 0; column < columns; ++column) {
    matrix[column] *= x;
    matrix[columns + column] *= y;
  }
  matrix[2] += (x - 1) / 2;
  matrix[columns + 2] += (y - 1) / 2;
}

/// Checks a calibration without a picture size: the principal point must be near the centre.
void check_center(const StereoCalibration& calibration, int width, int height) {
  for (const CameraCalibration* camera : {&calibration.left, &calibration.right}) {
    const double x = camera->matrix[2], y = camera->matrix[5];
    if (x < 0.35 * width || x > 0.65 * width || y < 0.35 * height || y > 0.65 * height)
      refuse(calibration, "this calibration has no picture size, and its principal point (" +
                              std::to_string(std::lround(x)) + ", " +
                              std::to_string(std::lround(y)) +
                              ") is far from the centre of frames of " + size_text(width, height) +
                              ": add image_width and image_height to the file.");
  }
}

StereoCalibration scaled(StereoCalibration calibration, int width, int height) {
  if (calibration.width == 0) {
    check_center(calibration, width, height);
    return calibration;
  }
  const double x = static_cast<double>(width) / calibration.width;
  const double y = static_cast<double>(height) / calibration.height;
  if (std::abs(height - calibration.height * x) >= 1 &&
      std::abs(width - calibration.width * y) >= 1)
    refuse(
        calibration,
        "this calibration is for pictures of " + size_text(calibration.width, calibration.height) +
            ", but the frames of " + size_text(width, height) +
            " have another aspect ratio: set the cameras to the calibrated size, or calibrate them "
            "again at the size of the frames.");
  for (CameraCalibration* camera : {&calibration.left, &calibration.right}) {
    scale_pixels(camera->matrix, 3, x, y);
    if (camera->rectification)
      scale_pixels(camera->rectification->projection, 4, x, y);
  }
  return calibration;
}

/// Keeps the rectifications of the files if alpha is -1.
void rectify(StereoCalibration& calibration, const cv::Size& size, double alpha) {
  if (alpha < 0 && calibration.left.rectification)
    return;
  const cv::Mat m1 = mat(calibration.left.matrix, 3), m2 = mat(calibration.right.matrix, 3);
  const cv::Mat d1 = distortion_of(calibration.left), d2 = distortion_of(calibration.right);
  const cv::Mat r = mat(calibration.pose.rotation, 3), t = mat(calibration.pose.translation, 3);
  cv::Mat r1, r2, p1, p2, q;
  if (calibration.model == CameraModel::fisheye)
    cv::fisheye::stereoRectify(m1, d1, m2, d2, size, r, t, r1, r2, p1, p2, q,
                               cv::CALIB_ZERO_DISPARITY, size, std::max(alpha, 0.0));
  else
    cv::stereoRectify(m1, d1, m2, d2, size, r, t, r1, r2, p1, p2, q, cv::CALIB_ZERO_DISPARITY,
                      alpha);
  calibration.left.rectification = {array_of<9>(r1), array_of<12>(p1)};
  calibration.right.rectification = {array_of<9>(r2), array_of<12>(p2)};
}

Positions positions_of(const std::vector<cv::Point2d>& points) {
  Positions positions;
  for (const cv::Point2d& point : points)
    positions.push_back({point.x, point.y});
  return positions;
}

bool is_sound(const Matrix3x4& p1, const Matrix3x4& p2) {
  const auto finite = [](double number) { return std::isfinite(number); };
  return std::all_of(p1.begin(), p1.end(), finite) && std::all_of(p2.begin(), p2.end(), finite) &&
         p1[0] > 0 && p2[0] > 0 && p2[3] < 0;
}

RectifyingMap map_of(const RectifiedCamera& rectified, const cv::Size& size) {
  const CameraCalibration& camera = rectified.camera;
  const CameraRectification& rectification = rectified.rectification;
  const cv::Mat m = mat(camera.matrix, 3), d = distortion_of(camera);
  const cv::Mat r = mat(rectification.rotation, 3), p = mat(rectification.projection, 3);
  const auto make = [&](int type, cv::Mat& first, cv::Mat& second) {
    if (rectified.model == CameraModel::fisheye)
      cv::fisheye::initUndistortRectifyMap(m, d, r, p, size, type, first, second);
    else
      cv::initUndistortRectifyMap(m, d, r, p, size, type, first, second);
  };
  cv::Mat places, fractions, x, y;
  make(CV_16SC2, places, fractions);
  make(CV_32FC1, x, y);
  RectifyingMap map{
      {places.ptr<std::int16_t>(), places.ptr<std::int16_t>() + 2 * places.total()},
      {fractions.ptr<std::uint16_t>(), fractions.ptr<std::uint16_t>() + fractions.total()}};
  // In OpenCV's fixed-point maps, distant positions lose their high bits, and may seem to be inside
  // the picture. The floating-point maps identify these positions.
  constexpr float distant = 32000;
  for (std::size_t i = 0; i < map.fractions.size(); ++i)
    if (!(std::abs(x.ptr<float>()[i]) < distant && std::abs(y.ptr<float>()[i]) < distant)) {
      map.places[2 * i] = map.places[2 * i + 1] = -1;
      map.fractions[i] = 0;
    }
  return map;
}

}  // namespace

Rectification make_rectification(const StereoCalibration& given, int width, int height,
                                 double alpha) {
  StereoCalibration calibration = scaled(given, width, height);
  try {
    const cv::Size size(width, height);
    rectify(calibration, size, alpha);
    const Matrix3x4& left = calibration.left.rectification->projection;
    Matrix3x4& right = calibration.right.rectification->projection;
    if (!is_sound(left, right))
      refuse(calibration,
             "these cameras cannot be rectified: calibrate them again, with pictures "
             "of the chessboard in all parts of the frame.");
    right[2] = left[2];
    Rectification result;
    result.left_camera = {calibration.model, calibration.left, *calibration.left.rectification};
    result.left = map_of(result.left_camera, size);
    result.right_camera = {calibration.model, calibration.right, *calibration.right.rectification};
    result.right = map_of(result.right_camera, size);
    result.focal_length = left[0];
    result.baseline = -right[3] / right[0];
    return result;
  } catch (const cv::Exception& e) {
    refuse(calibration,
           "OpenCV cannot rectify these cameras (" + e.err + "): calibrate them again.");
  }
}

void require_opencv(const std::string&) {}

Positions camera_positions(const RectifiedCamera& camera, const Positions& rectified) {
  if (rectified.empty())
    return {};
  const cv::Mat p = mat(camera.rectification.projection, 3).colRange(0, 3);
  const cv::Mat back = (p * mat(camera.rectification.rotation, 3)).inv();
  std::vector<cv::Point3d> directions;
  for (const auto& [x, y] : rectified) {
    const cv::Mat direction = back * cv::Vec3d(x, y, 1);
    const double z = direction.at<double>(2);
    directions.emplace_back(direction.at<double>(0) / z, direction.at<double>(1) / z, 1);
  }
  const cv::Vec3d none(0, 0, 0);
  const cv::Mat m = mat(camera.camera.matrix, 3), d = distortion_of(camera.camera);
  std::vector<cv::Point2d> seen;
  if (camera.model == CameraModel::fisheye)
    cv::fisheye::projectPoints(directions, seen, none, none, m, d);
  else
    cv::projectPoints(directions, none, none, m, d, seen);
  return positions_of(seen);
}

Positions rectified_positions(const RectifiedCamera& camera, const Positions& seen) {
  std::vector<cv::Point2d> points, rectified;
  for (const auto& [x, y] : seen)
    points.emplace_back(x, y);
  const cv::Mat m = mat(camera.camera.matrix, 3), d = distortion_of(camera.camera);
  const cv::Mat r = mat(camera.rectification.rotation, 3);
  const cv::Mat p = mat(camera.rectification.projection, 3);
  if (camera.model == CameraModel::fisheye)
    cv::fisheye::undistortPoints(points, rectified, m, d, r, p);
  else
    cv::undistortPoints(points, rectified, m, d, r, p,
                        {cv::TermCriteria::COUNT + cv::TermCriteria::EPS, 40, 1e-3});
  return positions_of(rectified);
}

RectifyingMap make_plane_map(const RectifiedCamera& camera, int width, int height,
                             int subsampling_x, int subsampling_y) {
  RectifiedCamera scaled = camera;
  scale_pixels(scaled.camera.matrix, 3, 1.0 / subsampling_x, 1.0 / subsampling_y);
  scale_pixels(scaled.rectification.projection, 4, 1.0 / subsampling_x, 1.0 / subsampling_y);
  try {
    return map_of(scaled, cv::Size(width, height));
  } catch (const cv::Exception& e) {
    throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED,
                       "OpenCV cannot compute the rectification map (" + e.err +
                           "): calibrate the cameras again.");
  }
}

}  // namespace cudavision
