// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests cudasgmstereo with a calibration: a scene of known depth, as two distorted cameras see it.
// check_stereo_calibration.cpp tests the calibrations themselves. This program does not use OpenCV,
// and so it can test a GPU host that lacks it.
#include <glib/gstdio.h>

#include <array>
#include <cmath>
#include <random>

#include "tests/check/common/stereodefinition.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

constexpr int width = 320, height = 240;
constexpr double focal_length = 260, baseline = 90;
constexpr double center_x = 158.25, center_y = 121.5;  // of the rectified pictures

struct Vector {
  double x, y, z;
};

using Rotation = std::array<double, 9>;

/// Rotates about the axes x, y and z, in this order.
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

/// A camera with its distortion. The rotation turns its coordinates into those of the rectified
/// pair.
struct Camera {
  bool fisheye;
  double fx, fy, cx, cy;
  std::array<double, 5> distortion;  ///< k1 k2 p1 p2 k3, or the four of the fisheye model
  Rotation turned;
  double position;  ///< on the axis x of the rectified pair, in mm

  /// Returns the place of a direction (x, y, 1), as OpenCV's documentation defines both models.
  std::array<double, 2> place(double x, double y) const {
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

  /// Returns the direction in which a pixel looks, in the coordinates of the rectified pair.
  Vector direction(double u, double v) const {
    double x = (u - cx) / fx, y = (v - cy) / fy;
    const double goal_x = u, goal_y = v;
    for (int step = 0; step < 30; ++step) {
      const auto [found_x, found_y] = place(x, y);
      x += (goal_x - found_x) / fx;
      y += (goal_y - found_y) / fy;
    }
    const Rotation& r = turned;
    return {r[0] * x + r[1] * y + r[2], r[3] * x + r[4] * y + r[5], r[6] * x + r[7] * y + r[8]};
  }

  /// Returns the place in this camera's picture of a pixel of the rectified one.
  std::array<double, 2> source(int u, int v) const {
    const double x = (u - center_x) / focal_length, y = (v - center_y) / focal_length;
    const Rotation& r = turned;  // its transpose turns back
    const double z = r[2] * x + r[5] * y + r[8];
    return place((r[0] * x + r[3] * y + r[6]) / z, (r[1] * x + r[4] * y + r[7]) / z);
  }
};

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
  return {fisheye, 255, 254, 157.75, 122.5, distortion, rotation(-0.015, 0.025, -0.02), baseline};
}

/// A plane. Its disparity is near in the middle of the rectified picture, and grows by the slopes
/// per pixel.
struct Plane {
  double middle, slope_x = 0, slope_y = 0;

  double disparity(int u, int v) const {
    return middle + slope_x * (u - center_x) + slope_y * (v - center_y);
  }

  /// Returns the point that a camera sees in that direction.
  Vector seen(double position, const Vector& d) const {
    const double a = slope_x * focal_length, b = slope_y * focal_length;
    const double z =
        (focal_length * baseline - a * position) / (middle + a * d.x / d.z + b * d.y / d.z);
    return {position + d.x / d.z * z, d.y / d.z * z, z};
  }

  /// A texture of waves that are 5 to 25 pixels long in the middle.
  double brightness(const Vector& point) const {
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
    const double pixels = middle / baseline;
    double sum = 0;
    for (const Wave& wave : waves)
      sum += std::sin(wave.x * pixels * point.x + wave.y * pixels * point.y + wave.phase);
    return 0.5 + sum / 22;
  }
};

/// Returns what the camera sees, in all channels alike.
Picture photograph(const Camera& camera, const Plane& plane, const FormatSpec& format) {
  Picture picture(format, width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double value = plane.brightness(plane.seen(camera.position, camera.direction(x, y)));
      const double levels = std::min(std::max(value, 0.0), 1.0) * format.peak();
      for (int place = 0; place < static_cast<int>(format.places.size()); ++place)
        picture.set_sample(place, x, y, static_cast<int>(std::lround(levels)));
    }
  return picture;
}

/// Both cameras' pictures of a plane.
struct Photographs {
  Camera left_of, right_of;
  Plane plane;
  Picture left, right;

  Photographs(bool fisheye, const Plane& seen, const char* format = "GRAY8")
      : left_of(left_camera(fisheye)),
        right_of(right_camera(fisheye)),
        plane(seen),
        left(photograph(left_of, plane, format_named(format))),
        right(photograph(right_of, plane, format_named(format))) {}
};

/* Files */

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

std::string entries_of(const Camera& camera, const std::string& number) {
  const auto& k = camera.distortion;
  std::vector<double> distortion(k.begin(), k.begin() + (camera.fisheye ? 4 : 5));
  return matrix_of("M" + number, 3, {camera.fx, 0, camera.cx, 0, camera.fy, camera.cy, 0, 0, 1}) +
         matrix_of("D" + number, 1, distortion) +
         matrix_of("R" + number, 3, {camera.turned.begin(), camera.turned.end()}) +
         matrix_of("P" + number, 3,
                   {focal_length, 0, center_x, -focal_length * camera.position, 0, focal_length,
                    center_y, 0, 0, 0, 1, 0});
}

/// A calibration of these cameras in a file, which is removed with the object.
class CalibrationFile {
 public:
  explicit CalibrationFile(bool fisheye, const std::string& more = "unit: mm\n") {
    gchar* name = nullptr;
    GError* error = nullptr;
    const gint file = g_file_open_tmp("stereo-XXXXXX.yml", &name, &error);
    fail_unless(file >= 0, "%s", error ? error->message : "");
    g_close(file, nullptr);
    name_ = name;
    g_free(name);
    const std::string text = std::string("%YAML:1.0\n---\nimage_width: 320\nimage_height: 240\n") +
                             "distortion_model: " + (fisheye ? "fisheye\n" : "pinhole\n") + more +
                             entries_of(left_camera(fisheye), "1") +
                             entries_of(right_camera(fisheye), "2");
    fail_unless(g_file_set_contents(name_.c_str(), text.c_str(), -1, nullptr));
  }
  ~CalibrationFile() { g_remove(name_.c_str()); }
  CalibrationFile(const CalibrationFile&) = delete;
  CalibrationFile& operator=(const CalibrationFile&) = delete;

  Property property() const { return {"calibration", name_}; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/* Maps */

Properties few_and(const Properties& more) {
  Properties properties = {{"num-disparities", "64"}};
  properties.insert(properties.end(), more.begin(), more.end());
  return properties;
}

Picture map_from(StereoHarness& stereo, const Picture& left, const Picture& right) {
  const Map out = stereo.process(to_buffer(left), to_buffer(right));
  return from_buffer(out, format_named("GRAY16_LE"), left.width, left.height);
}

Picture map_of(const Properties& properties, const Picture& left, const Picture& right) {
  StereoHarness stereo(few_and(properties));
  fail_unless(stereo.send_caps(stereo.left(), caps_of(*left.format, left.width, left.height)));
  fail_unless(stereo.send_caps(stereo.right(), caps_of(*right.format, left.width, left.height)));
  return map_from(stereo, left, right);
}

/// The errors of a map where both cameras see the plane, in sixteenths of a pixel.
struct Errors {
  int pixels = 0;
  double known = 0;       ///< share of the pixels
  double within_one = 0;  ///< share of the known ones
  double mean = 0;
};

Errors errors_of(const Picture& map, const Photographs& photographs) {
  constexpr double margin = 8;
  const auto sees = [](const Camera& camera, int u, int v) {
    const auto [x, y] = camera.source(u, v);
    return x > margin && x < width - 1 - margin && y > margin && y < height - 1 - margin;
  };
  Errors errors;
  int known = 0, within = 0;
  for (int v = 8; v < height - 8; ++v)
    for (int u = 8; u < width - 8; ++u) {
      const double truth = photographs.plane.disparity(u, v);
      if (!sees(photographs.left_of, u, v) ||
          !sees(photographs.right_of, static_cast<int>(u - truth), v) || u - truth < 8)
        continue;
      ++errors.pixels;
      const int found = disparity_at(map, u, v);
      if (found == -16)
        continue;
      ++known;
      within += std::abs(found - 16 * truth) <= 1;
      errors.mean += found - 16 * truth;
    }
  errors.known = static_cast<double>(known) / errors.pixels;
  errors.within_one = static_cast<double>(within) / known;
  errors.mean /= known;
  return errors;
}

std::string unless_built_with_opencv() {
#ifdef CUDAVISION_TEST_HAVE_OPENCV
  return {};
#else
  return "this build has no OpenCV, which calibrations need";
#endif
}

const Plane planes[] = {{20}, {31}, {24, 0.03, 0.01}, {30, -0.02, 0.04}};

}  // namespace

TEST(test_known_depth, .times(2 * std::size(planes)).unless(unless_built_with_opencv())) {
  const bool fisheye = index % 2 == 1;
  const Plane& plane = planes[index / 2];
  const Photographs photographs(fisheye, plane);
  const CalibrationFile file(fisheye);
  const Errors errors =
      errors_of(map_of({file.property()}, photographs.left, photographs.right), photographs);
  g_print(
      "%s, disparities %g + %g·x + %g·y: of %d pixels %.1f %% known, of these %.1f %% within "
      "1/16 pixel, mean error %.4f pixels\n",
      fisheye ? "fisheye" : "pinhole", plane.middle, plane.slope_x, plane.slope_y, errors.pixels,
      100 * errors.known, 100 * errors.within_one, errors.mean / 16);
  fail_unless(errors.pixels > width * height / 3);
  fail_unless(errors.known > 0.95);
  fail_unless(std::abs(errors.mean) < 0.5);
  // What the cameras see is no longer found without rectification.
  const Errors raw = errors_of(map_of({}, photographs.left, photographs.right), photographs);
  fail_unless(raw.known * raw.within_one < 0.1, "%.3f of %.3f", raw.within_one, raw.known);
}
