// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/sgmstereo/cameras/photographedplanes.h"

#include <random>

namespace check {
namespace {

Rotation rotation(double a, double b, double c) {
  const double sa = std::sin(a), ca = std::cos(a), sb = std::sin(b), cb = std::cos(b);
  const double sc = std::sin(c), cc = std::cos(c);
  return {cc * cb,
          cc * sb * sa - sc * ca,
          cc * sb * ca + sc * sa,
          sc * cb,
          sc * sb * sa + cc * ca,
          sc * sb * ca - cc * sa,
          -sb,
          cb * sa,
          cb * ca};
}

Picture photograph(const Camera& camera, const Plane& plane, const FormatSpec& format) {
  Picture picture(format, camera_width, camera_height);
  for (int y = 0; y < camera_height; ++y)
    for (int x = 0; x < camera_width; ++x) {
      const double value = plane.brightness(plane.seen(camera.position, camera.direction(x, y)));
      const double levels = std::min(std::max(value, 0.0), 1.0) * format.peak();
      for (int place = 0; place < static_cast<int>(format.places.size()); ++place)
        picture.set_sample(place, x, y, static_cast<int>(std::lround(levels)));
    }
  return picture;
}

}  // namespace

std::array<double, 2> Camera::projected(double x, double y) const {
  const auto& k = distortion;
  double u = x, v = y;
  if (fisheye) {
    const double r = std::hypot(x, y), t = std::atan(r), t2 = t * t;
    const double scale =
        r > 0 ? t * (1 + t2 * (k[0] + t2 * (k[1] + t2 * (k[2] + t2 * k[3])))) / r : 1;
    u = x * scale;
    v = y * scale;
  } else {
    const double r2 = x * x + y * y;
    const double radial = 1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]));
    u = x * radial + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x);
    v = y * radial + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y;
  }
  return {fx * u + cx, fy * v + cy};
}

Vector Camera::direction(double u, double v) const {
  double x = (u - cx) / fx, y = (v - cy) / fy;
  double error = 1;
  while (error > 1e-9) {
    const auto [found_x, found_y] = projected(x, y);
    x += (u - found_x) / fx;
    y += (v - found_y) / fy;
    error = std::abs(u - found_x) + std::abs(v - found_y);
  }
  const Rotation& r = turned;
  return {r[0] * x + r[1] * y + r[2], r[3] * x + r[4] * y + r[5], r[6] * x + r[7] * y + r[8]};
}

std::array<double, 2> Camera::source(double u, double v, double focal) const {
  const double x = (u - rectified_center_x) / focal, y = (v - rectified_center_y) / focal;
  const Rotation& r = turned;  // its transpose is the inverse
  const double z = r[2] * x + r[5] * y + r[8];
  return projected((r[0] * x + r[3] * y + r[6]) / z, (r[1] * x + r[4] * y + r[7]) / z);
}
Camera left_camera(bool fisheye) {
  const std::array<double, 5> distortion =
      fisheye ? std::array<double, 5>{-0.03, 0.012, -0.006, 0.001, 0}
              : std::array<double, 5>{-0.28, 0.09, 0.0008, -0.0006, -0.01};
  return {fisheye, 251, 252, 161.5, 117.25, distortion, rotation(0.02, -0.03, 0.025), 0};
}

Camera right_camera(bool fisheye) {
  const std::array<double, 5> distortion =
      fisheye ? std::array<double, 5>{-0.025, 0.01, -0.005, 0.0008, 0}
              : std::array<double, 5>{-0.26, 0.08, -0.0007, 0.0009, -0.008};
  return {fisheye,           255, 254, 157.75, 122.5, distortion, rotation(-0.015, 0.025, -0.02),
          rectified_baseline};
}

Camera ideal_camera(double position) {
  return {false,
          rectified_focal_length,
          rectified_focal_length,
          rectified_center_x,
          rectified_center_y,
          {},
          rotation(0, 0, 0),
          position};
}

Vector Plane::seen(double position, const Vector& d) const {
  const double a = slope_x * rectified_focal_length, b = slope_y * rectified_focal_length;
  const double z = (rectified_focal_length * rectified_baseline - a * position) /
                   (middle + a * d.x / d.z + b * d.y / d.z);
  return {position + d.x / d.z * z, d.y / d.z * z, z};
}

double Plane::brightness(const Vector& point) const {
  struct Wave {
    double x, y, phase;
  };
  static const std::vector<Wave> waves = [] {
    std::mt19937 random(1);
    const auto number = [&] { return static_cast<double>(random()) / 4294967296.0; };
    std::vector<Wave> list;
    for (int i = 0; i < 40; ++i) {
      const double angle = 2 * G_PI * number(), length = 5 + 20 * number();
      list.push_back({2 * G_PI / length * std::cos(angle), 2 * G_PI / length * std::sin(angle),
                      2 * G_PI * number()});
    }
    return list;
  }();
  const double pixels = middle / rectified_baseline;
  double sum = 0;
  for (const Wave& wave : waves)
    sum += std::sin(wave.x * pixels * point.x + wave.y * pixels * point.y + wave.phase);
  return 0.5 + sum / 22;
}
Photographs::Photographs(bool fisheye, const Plane& seen, const char* format)
    : Photographs(left_camera(fisheye), right_camera(fisheye), seen, format) {}

Photographs::Photographs(const Camera& left_camera, const Camera& right_camera, const Plane& seen,
                         const char* format)
    : left_of(left_camera),
      right_of(right_camera),
      plane(seen),
      left(photograph(left_of, plane, format_named(format))),
      right(photograph(right_of, plane, format_named(format))) {}

namespace {

std::string digits(double number) {
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, number);
}

std::string list_of(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers)
    text += (text.empty() ? "[ " : ", ") + digits(number);
  return text + " ]";
}

std::string matrix_of(const std::string& key, int rows, const std::vector<double>& numbers) {
  return key + ": !!opencv-matrix\n   rows: " + std::to_string(rows) +
         "\n   cols: " + std::to_string(numbers.size() / static_cast<std::size_t>(rows)) +
         "\n   dt: d\n   data: " + list_of(numbers) + "\n";
}

/// `focal`: focal length of the rectified pictures.
std::string entries_of(const Camera& camera, const std::string& number, double focal,
                       double position) {
  const auto& k = camera.distortion;
  std::vector<double> distortion(k.begin(), k.begin() + (camera.fisheye ? 4 : 5));
  return matrix_of("M" + number, 3, {camera.fx, 0, camera.cx, 0, camera.fy, camera.cy, 0, 0, 1}) +
         matrix_of("D" + number, 1, distortion) +
         matrix_of("R" + number, 3, {camera.turned.begin(), camera.turned.end()}) +
         matrix_of("P" + number, 3,
                   {focal, 0, rectified_center_x, -focal * position, 0, focal, rectified_center_y,
                    0, 0, 0, 1, 0});
}

}  // namespace

CalibrationFile::CalibrationFile(bool fisheye, const std::string& more, double focal,
                                 double baseline)
    : TemporaryFile("stereo-XXXXXX.yml",
                    std::string("%YAML:1.0\n---\nimage_width: 320\nimage_height: 240\n") +
                        "distortion_model: " + (fisheye ? "fisheye\n" : "pinhole\n") + more +
                        entries_of(left_camera(fisheye), "1", focal, 0) +
                        entries_of(right_camera(fisheye), "2", focal, baseline)) {}

std::string unless_built_with_opencv() {
#ifdef CUDAVISION_TEST_HAVE_OPENCV
  return {};
#else
  return "this build has no OpenCV, which calibrations need";
#endif
}

std::string unless_fast() {
#if defined(CUDAVISION_TEST_SANITIZED) || defined(__SANITIZE_THREAD__)
  return "a sanitizer makes this too slow";
#else
  return unless_built_with_opencv();
#endif
}

}  // namespace check
