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
    double error = 1;
    while (error > 1e-9) {
      const auto [found_x, found_y] = place(x, y);
      x += (u - found_x) / fx;
      y += (v - found_y) / fy;
      error = std::abs(u - found_x) + std::abs(v - found_y);
    }
    const Rotation& r = turned;
    return {r[0] * x + r[1] * y + r[2], r[3] * x + r[4] * y + r[5], r[6] * x + r[7] * y + r[8]};
  }

  /// Returns the place in this camera's picture of a pixel of the rectified one.
  std::array<double, 2> source(int u, int v, double focal = focal_length) const {
    const double x = (u - center_x) / focal, y = (v - center_y) / focal;
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

/// A camera that looks as the rectified pair does.
Camera ideal_camera(double position) {
  return {false, focal_length, focal_length, center_x, center_y, {}, rotation(0, 0, 0), position};
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
      : Photographs(left_camera(fisheye), right_camera(fisheye), seen, format) {}
  Photographs(const Camera& left_camera, const Camera& right_camera, const Plane& seen,
              const char* format = "GRAY8")
      : left_of(left_camera),
        right_of(right_camera),
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

/// focal: of the rectified pictures.
std::string entries_of(const Camera& camera, const std::string& number, double focal) {
  const auto& k = camera.distortion;
  std::vector<double> distortion(k.begin(), k.begin() + (camera.fisheye ? 4 : 5));
  return matrix_of("M" + number, 3, {camera.fx, 0, camera.cx, 0, camera.fy, camera.cy, 0, 0, 1}) +
         matrix_of("D" + number, 1, distortion) +
         matrix_of("R" + number, 3, {camera.turned.begin(), camera.turned.end()}) +
         matrix_of(
             "P" + number, 3,
             {focal, 0, center_x, -focal * camera.position, 0, focal, center_y, 0, 0, 0, 1, 0});
}

/// A calibration of these cameras in a file, which is removed with the object.
class CalibrationFile {
 public:
  explicit CalibrationFile(bool fisheye, const std::string& more = "unit: mm\n",
                           double focal = focal_length) {
    gchar* name = nullptr;
    GError* error = nullptr;
    const gint file = g_file_open_tmp("stereo-XXXXXX.yml", &name, &error);
    fail_unless(file >= 0, "%s", error ? error->message : "");
    g_close(file, nullptr);
    name_ = name;
    g_free(name);
    const std::string text = std::string("%YAML:1.0\n---\nimage_width: 320\nimage_height: 240\n") +
                             "distortion_model: " + (fisheye ? "fisheye\n" : "pinhole\n") + more +
                             entries_of(left_camera(fisheye), "1", focal) +
                             entries_of(right_camera(fisheye), "2", focal);
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
  fail_unless(errors.pixels > width * height / 2, "the test sees %d pixels", errors.pixels);
  fail_unless(errors.known > 0.99, "%.3f are known", errors.known);
  fail_unless(std::abs(errors.mean) < 0.1, "the mean error is %.3f sixteenths", errors.mean);
  // Between whole pixels, Semi-Global Matching itself is less exact. Cameras without distortion,
  // which need no rectification, show how much.
  const Photographs ideal(ideal_camera(0), ideal_camera(baseline), plane);
  const Errors best = errors_of(map_of({}, ideal.left, ideal.right), photographs);
  fail_unless(errors.within_one > best.within_one - 0.05, "%.3f instead of %.3f are exact",
              errors.within_one, best.within_one);
  if (plane.slope_x == 0)
    fail_unless(errors.within_one > 0.98, "%.3f are exact", errors.within_one);
  // Without rectification, next to nothing is found.
  const Errors raw = errors_of(map_of({}, photographs.left, photographs.right), photographs);
  fail_unless(raw.known * raw.within_one < 0.1, "%.3f of %.3f", raw.within_one, raw.known);
}

// Only the luminance counts, at its full depth.
TEST(test_formats, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Properties properties = {file.property()};
  const Photographs gray(false, planes[0]);
  const Picture expected = map_of(properties, gray.left, gray.right);
  for (const char* format : {"I420", "NV12", "UYVY", "RGB", "ABGR", "GBR"}) {
    const Photographs others(false, planes[0], format);
    expect_picture(map_of(properties, others.left, gray.right), expected, format);
    expect_picture(map_of(properties, gray.left, others.right), expected, format);
  }
  for (const char* format : {"GRAY16_LE", "P010_10LE", "I420_10LE"}) {
    const Photographs deep(true, planes[0], format);
    const CalibrationFile fisheye(true);
    const Errors errors = errors_of(map_of({fisheye.property()}, deep.left, deep.right), deep);
    fail_unless(errors.known > 0.99 && errors.within_one > 0.98, "%s: %.3f, %.3f", format,
                errors.known, errors.within_one);
  }
}

// Each half of a packed frame is one camera's picture.
TEST(test_packed_frames, .unless(unless_built_with_opencv())) {
  for (const bool fisheye : {false, true}) {
    const CalibrationFile file(fisheye);
    const Photographs photographs(fisheye, planes[2]);
    const Picture expected = map_of({file.property()}, photographs.left, photographs.right);
    for (const bool side_by_side : {true, false}) {
      const Picture& left = photographs.left;
      const Picture frame = picture_with(
          *left.format, side_by_side ? 2 * width : width, side_by_side ? height : 2 * height,
          [&](int place, int x, int y) {
            const bool second = side_by_side ? x >= width : y >= height;
            return (second ? photographs.right : left).sample(place, x % width, y % height);
          });
      StereoHarness stereo(
          few_and(
              {file.property(), {"frame-packing", side_by_side ? "side-by-side" : "top-bottom"}}),
          false);
      stereo.accept_caps(caps_of(*left.format, frame.width, frame.height));
      const Map out = stereo.process(to_buffer(frame), nullptr);
      expect_picture(from_buffer(out, format_named("GRAY16_LE"), width, height), expected,
                     side_by_side ? "side by side" : "one above the other");
    }
  }
}

// What a camera does not see is unknown, even when holes are filled.
TEST(test_unseen_pixels, .times(2).unless(unless_built_with_opencv())) {
  const bool fisheye = index == 1;
  // Rectified pictures that show more than the cameras see.
  constexpr double focal = 180;
  const CalibrationFile file(fisheye, "unit: mm\n", focal);
  const Photographs photographs(fisheye, planes[0]);
  const Properties properties = {file.property(), {"fill-holes", "true"}};
  const Picture map = map_of(properties, photographs.left, photographs.right);
  int unseen = 0;
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u) {
      const auto [x, y] = photographs.left_of.source(u, v, focal);
      const double beyond = std::max(std::max(-x, x - (width - 1)), std::max(-y, y - (height - 1)));
      if (std::abs(beyond) < 0.1)
        continue;
      unseen += beyond > 0;
      fail_unless((disparity_at(map, u, v) == -16) == (beyond > 0), "(%d, %d), seen at (%g, %g)", u,
                  v, x, y);
    }
  fail_unless(unseen > 200, "only %d pixels", unseen);
  // With alpha=0, the left camera sees everything. For fisheyes, OpenCV only estimates this.
  if (fisheye)
    return;
  Properties all_seen = properties;
  all_seen.emplace_back("alpha", "0");
  const Picture whole = map_of(all_seen, photographs.left, photographs.right);
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u)
      fail_unless(disparity_at(whole, u, v) != -16, "(%d, %d)", u, v);
}

// Confidence is 0 where nothing is known.
TEST(test_confidence, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, planes[0]);
  const Picture map = map_of({file.property()}, photographs.left, photographs.right);
  StereoHarness stereo(few_and({file.property(), {"output", "confidence"}}));
  stereo.accept_gray(width, height);
  const Map out = stereo.process(to_buffer(photographs.left), to_buffer(photographs.right));
  const Picture confidence = from_buffer(out, format_named("GRAY8"), width, height);
  int unknown = 0;
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u)
      if (disparity_at(map, u, v) == -16) {
        ++unknown;
        fail_unless_equals_int(confidence.sample(0, u, v), 0);
      }
  fail_unless(unknown > 200);
}

/* Focal length and baseline */

namespace {

double number_of(const StereoHarness& stereo, const char* property) {
  gdouble number = 0;
  g_object_get(stereo.element(), property, &number, nullptr);
  return number;
}

Picture depth_from(StereoHarness& stereo, const Photographs& photographs) {
  return map_from(stereo, photographs.left, photographs.right);
}

}  // namespace

TEST(test_depth, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, planes[1]);
  const Picture map = map_of({file.property()}, photographs.left, photographs.right);
  const auto expect_depth = [&](const Picture& depth, double focal, double distance) {
    expect_picture(depth, depth_of_map(map, {64, 0, 16}, {focal, distance, 1}), "depth");
  };
  StereoHarness stereo(few_and({file.property(), {"output", "depth"}}));
  int notified = 0;
  g_signal_connect(stereo.element(), "notify::baseline",
                   G_CALLBACK(+[](GObject*, GParamSpec*, gpointer count) {
                     g_atomic_int_inc(static_cast<gint*>(count));
                   }),
                   &notified);
  fail_unless(number_of(stereo, "focal-length") == 0 && number_of(stereo, "baseline") == 0);
  stereo.accept_gray(width, height);
  expect_depth(depth_from(stereo, photographs), focal_length, baseline);
  fail_unless(number_of(stereo, "focal-length") == focal_length);
  fail_unless(std::abs(number_of(stereo, "baseline") - baseline) < 1e-9);
  fail_unless_equals_int(g_atomic_int_get(&notified), 1);

  // Those that are set take the place of the calibration's, and 0 stands for the calibration's.
  stereo.set("baseline", "45");
  expect_depth(depth_from(stereo, photographs), focal_length, 45);
  stereo.set("focal-length", "500");
  expect_depth(depth_from(stereo, photographs), 500, 45);
  stereo.set("baseline", "0");
  expect_depth(depth_from(stereo, photographs), 500, baseline);
  stereo.set("focal-length", "0");
  expect_depth(depth_from(stereo, photographs), focal_length, baseline);
  gst_element_set_state(stereo.element(), GST_STATE_READY);
  fail_unless(number_of(stereo, "focal-length") == 0 && number_of(stereo, "baseline") == 0);
  fail_unless_equals_int(stereo.messages().complaints(), 0);
}

/* Frames of other sizes */

namespace {

/// Returns a picture of half the size, of the means of 2×2 pixels.
Picture halved(const Picture& picture) {
  return picture_with(
      *picture.format, picture.width / 2, picture.height / 2, [&](int place, int x, int y) {
        const auto at = [&](int i, int j) { return picture.sample(place, 2 * x + i, 2 * y + j); };
        return (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1) + 2) / 4;
      });
}

}  // namespace

TEST(test_other_sizes, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, planes[0]);
  const Picture left = halved(photographs.left), right = halved(photographs.right);
  const Picture whole = map_of({file.property()}, photographs.left, photographs.right);
  StereoHarness stereo(few_and({file.property()}));
  for (int i = 0; i < 2; ++i) {
    stereo.accept_gray(width, height);
    expect_picture(map_from(stereo, photographs.left, photographs.right), whole, "the whole size");
    fail_unless(number_of(stereo, "focal-length") == focal_length);
    stereo.accept_gray(width / 2, height / 2);
    const Picture half = map_from(stereo, left, right);
    fail_unless(number_of(stereo, "focal-length") == focal_length / 2);
    fail_unless(std::abs(number_of(stereo, "baseline") - baseline) < 1e-9);
    int exact = 0, pixels = 0;
    for (int y = 20; y < height / 2 - 20; ++y)
      for (int x = 35; x < width / 2 - 20; ++x) {
        ++pixels;
        exact += std::abs(disparity_at(half, x, y) - 16 * planes[0].middle / 2) <= 1;
      }
    fail_unless(exact > 0.95 * pixels, "%d of %d", exact, pixels);
  }
  // Frames of another aspect ratio show something else.
  stereo.messages().clear();
  stereo.accept_gray(width, height - 40);
  gst_harness_push(stereo.left(), to_buffer(Picture(*left.format, width, height - 40)));
  gst_harness_push(stereo.right(), to_buffer(Picture(*left.format, width, height - 40)));
  stereo.wait_for_error();
  expect_words(stereo.messages().text(GST_MESSAGE_ERROR),
               {file.name(), "320x240", "320x200", "calibrate"});
}

/* Errors */

TEST(test_errors_at_start, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false), wrong(false, "unit: inch\n"), spoilt(true, "P3: [\n");
  struct Fault {
    Properties properties;
    std::vector<std::string> words;
  };
  const Fault faults[] = {
      {{{"calibration", "/nowhere/stereo.yml"}}, {"/nowhere/stereo.yml", "calibrate.py"}},
      {{{"calibration", wrong.name()}}, {wrong.name(), "unit", "\"mm\""}},
      {{{"calibration", spoilt.name()}}, {spoilt.name(), "OpenCV can read"}},
      {{{"calibration-left", file.name()}}, {"set calibration-right"}},
      {{{"calibration-right", file.name()}}, {"set calibration-left"}},
      {{{"calibration-left", file.name()}, {"calibration-right", file.name()}},
       {file.name(), "is missing", "camera_info"}},
      {{{"calibration", file.name()}, {"calibration-left", file.name()}}, {"either calibration"}},
  };
  for (const Fault& fault : faults)
    expect_words(expect_failed_start(make_element("cudasgmstereo", fault.properties).get()),
                 fault.words);
}

// The file is read at each start.
TEST(test_starts_again, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, planes[0]);
  const Picture rectified = map_of({file.property()}, photographs.left, photographs.right);
  const Picture raw = map_of({}, photographs.left, photographs.right);
  StereoHarness stereo(few_and({}));
  for (const std::string& name : {std::string(), file.name(), std::string()}) {
    gst_element_set_state(stereo.element(), GST_STATE_READY);
    stereo.set("calibration", name);
    gst_element_set_state(stereo.element(), GST_STATE_PLAYING);
    for (GstHarness* harness : stereo.harnesses())
      gst_pad_push_event(harness->srcpad, gst_event_new_stream_start("again"));
    stereo.accept_gray(width, height);
    expect_picture(map_from(stereo, photographs.left, photographs.right),
                   name.empty() ? raw : rectified, name);
    // While playing, another name has no effect.
    stereo.set("calibration", name.empty() ? file.name() : "");
    expect_picture(map_from(stereo, photographs.left, photographs.right),
                   name.empty() ? raw : rectified, name);
  }
}

TEST(test_built_without_opencv,
     .unless(unless_built_with_opencv().empty() ? "this build has OpenCV" : "")) {
  expect_words(
      expect_failed_start(make_element("cudasgmstereo", {{"calibration", "stereo.yml"}}).get()),
      {"-Dopencv=enabled", "libopencv-dev"});
}
