// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the maps of cudasgmstereo with a calibration: a scene of known depth seen by two distorted
// cameras. check_stereo_calibration.cpp tests the calibrations themselves.
#include <cmath>

#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"

using namespace check;

namespace {

constexpr int width = camera_width, height = camera_height;
constexpr double focal_length = rectified_focal_length, baseline = rectified_baseline;

Properties few_and(const Properties& more) {
  return joined({{"num-disparities", "64"}}, more);
}

Picture map_of(const Properties& properties, const Picture& left, const Picture& right) {
  StereoHarness stereo(few_and(properties));
  fail_unless(stereo.send_caps(stereo.left(), caps_of(*left.format, left.width, left.height)));
  fail_unless(stereo.send_caps(stereo.right(), caps_of(*right.format, left.width, left.height)));
  return stereo.match(left, right);
}

struct Errors {
  int pixels = 0;
  double known = 0;       ///< share of valid pixels
  double within_one = 0;  ///< share of valid pixels that are off by at most 1/16 pixel
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

const Plane planes[] = {{20}, {31}, {24, 0.03, 0.01}, {30, -0.02, 0.04}};

double number_of(const StereoHarness& stereo, const char* property) {
  gdouble number = 0;
  g_object_get(stereo.element(), property, &number, nullptr);
  return number;
}

Picture halved(const Picture& picture) {
  return picture_with(
      *picture.format, picture.width / 2, picture.height / 2, [&](int place, int x, int y) {
        const auto at = [&](int i, int j) { return picture.sample(place, 2 * x + i, 2 * y + j); };
        return (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1) + 2) / 4;
      });
}

}  // namespace

TEST(test_known_depth, .times(2 * std::size(planes)).unless(unless_built_with_opencv())) {
  const bool fisheye = index % 2 == 1;
  const Plane& plane = planes[index / 2];
  const Photographs photographs(fisheye, plane);
  const CalibrationFile file(fisheye);
  const Errors errors =
      errors_of(map_of({file.property()}, photographs.left, photographs.right), photographs);
  fail_unless(errors.pixels > width * height / 2, "only %d pixels are compared", errors.pixels);
  fail_unless(errors.known > 0.99, "%.3f of the disparities are valid", errors.known);
  fail_unless(std::abs(errors.mean) < 0.1, "the mean error is %.3f sixteenths", errors.mean);
  // The matching error of ideal, undistorted cameras is the best that can be expected.
  const Photographs ideal(ideal_camera(0), ideal_camera(baseline), plane);
  const Errors best = errors_of(map_of({}, ideal.left, ideal.right), photographs);
  fail_unless(errors.within_one > best.within_one - 0.05, "%.3f instead of %.3f are exact",
              errors.within_one, best.within_one);
  const double exact = plane.slope_x == 0 ? 0.95 : 0.8;
  fail_unless(errors.within_one > exact, "%.3f are exact", errors.within_one);
  // slanted-surfaces=false favours whole disparities, which the planes without slopes have.
  const Errors flat = errors_of(
      map_of({file.property(), {"slanted-surfaces", "false"}}, photographs.left, photographs.right),
      photographs);
  if (plane.slope_x == 0)
    fail_unless(flat.within_one > 0.98, "%.3f are exact", flat.within_one);
  // Without rectification, hardly any disparity is right.
  const Errors raw = errors_of(map_of({}, photographs.left, photographs.right), photographs);
  fail_unless(raw.known * raw.within_one < 0.1,
              "without rectification, %.3f of %.3f valid disparities are exact", raw.within_one,
              raw.known);
}

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
    fail_unless(errors.known > 0.99 && errors.within_one > 0.95,
                "%s: %.3f valid, %.3f of them exact", format, errors.known, errors.within_one);
  }
}

// Each half of a packed frame is one camera's picture.
TEST(test_packed_frames, .unless(unless_built_with_opencv())) {
  for (const bool fisheye : {false, true}) {
    const CalibrationFile file(fisheye);
    const Photographs photographs(fisheye, planes[2]);
    const Picture expected = map_of({file.property()}, photographs.left, photographs.right);
    for (const bool side_by_side : {true, false}) {
      const Picture frame = packed(photographs.left, photographs.right, side_by_side);
      StereoHarness stereo(
          few_and(
              {file.property(), {"frame-packing", side_by_side ? "side-by-side" : "top-bottom"}}),
          false);
      stereo.accept_gray(frame.width, frame.height);
      expect_picture(stereo.match(to_buffer(frame), nullptr), expected,
                     side_by_side ? "side by side" : "one above the other");
    }
  }
}

// Pixels that the left camera does not see are invalid, even when holes are filled.
TEST(test_unseen_pixels, .times(2).unless(unless_built_with_opencv())) {
  const bool fisheye = index == 1;
  // With this focal length, the rectified pictures are wider than the cameras' fields of view.
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
  fail_unless(unseen > 200, "only %d unseen pixels", unseen);
  // alpha=0 crops to the left camera's field of view, which OpenCV only estimates for fisheyes.
  if (fisheye)
    return;
  const Picture whole =
      map_of(joined(properties, {{"alpha", "0"}}), photographs.left, photographs.right);
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u)
      fail_unless(disparity_at(whole, u, v) != -16, "(%d, %d)", u, v);
}

TEST(test_confidence, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, planes[0]);
  const Picture map = map_of({file.property()}, photographs.left, photographs.right);
  StereoHarness stereo(few_and({file.property(), {"output", "confidence"}}));
  stereo.accept_gray(width, height);
  const Picture confidence = stereo.match(photographs.left, photographs.right);
  int unknown = 0;
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u)
      if (disparity_at(map, u, v) == -16) {
        ++unknown;
        fail_unless_equals_int(confidence.sample(0, u, v), 0);
      }
  fail_unless(unknown > 200);
}

TEST(test_depth, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, planes[1]);
  const Picture map = map_of({file.property()}, photographs.left, photographs.right);
  StereoHarness stereo(few_and({file.property(), {"output", "depth"}}));
  const auto expect_depth = [&](double focal, double distance) {
    expect_picture(stereo.match(photographs.left, photographs.right),
                   depth_of_map(map, {64, 0, 16}, {focal, distance, 1}), "depth");
  };
  int notified = 0;
  g_signal_connect(stereo.element(), "notify::baseline",
                   G_CALLBACK(+[](GObject*, GParamSpec*, gpointer count) {
                     g_atomic_int_inc(static_cast<gint*>(count));
                   }),
                   &notified);
  fail_unless(number_of(stereo, "focal-length") == 0 && number_of(stereo, "baseline") == 0);
  stereo.accept_gray(width, height);
  expect_depth(focal_length, baseline);
  fail_unless(number_of(stereo, "focal-length") == focal_length);
  fail_unless(std::abs(number_of(stereo, "baseline") - baseline) < 1e-9);
  fail_unless_equals_int(g_atomic_int_get(&notified), 1);

  // focal-length and baseline override the calibration; 0 keeps the calibration's value.
  stereo.set("baseline", "45");
  expect_depth(focal_length, 45);
  stereo.set("focal-length", "500");
  expect_depth(500, 45);
  stereo.set("baseline", "0");
  expect_depth(500, baseline);
  stereo.set("focal-length", "0");
  expect_depth(focal_length, baseline);
  gst_element_set_state(stereo.element(), GST_STATE_READY);
  fail_unless(number_of(stereo, "focal-length") == 0 && number_of(stereo, "baseline") == 0);
  fail_unless_equals_int(stereo.messages().complaints(), 0);
}

TEST(test_other_sizes, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, planes[0]);
  const Picture left = halved(photographs.left), right = halved(photographs.right);
  const Picture whole = map_of({file.property()}, photographs.left, photographs.right);
  StereoHarness stereo(few_and({file.property()}));
  for (int i = 0; i < 2; ++i) {
    stereo.accept_gray(width, height);
    expect_picture(stereo.match(photographs.left, photographs.right), whole, "the whole size");
    fail_unless(number_of(stereo, "focal-length") == focal_length);
    stereo.accept_gray(width / 2, height / 2);
    const Picture half = stereo.match(left, right);
    fail_unless(number_of(stereo, "focal-length") == focal_length / 2);
    fail_unless(std::abs(number_of(stereo, "baseline") - baseline) < 1e-9);
    int exact = 0, pixels = 0;
    for (int y = 20; y < height / 2 - 20; ++y)
      for (int x = 35; x < width / 2 - 20; ++x) {
        ++pixels;
        exact += std::abs(disparity_at(half, x, y) - 16 * planes[0].middle / 2) <= 1;
      }
    fail_unless(exact > 0.9 * pixels, "%d of %d", exact, pixels);
  }
  // Frames of another aspect ratio do not match the calibration.
  stereo.messages().clear();
  stereo.accept_gray(width, height - 40);
  gst_harness_push(stereo.left(), to_buffer(Picture(*left.format, width, height - 40)));
  gst_harness_push(stereo.right(), to_buffer(Picture(*left.format, width, height - 40)));
  stereo.expect_error({file.name(), "320×240", "320×200", "calibrate"});
}

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
      {{{"calibration-left", file.name()}}, {"without calibration-right"}},
      {{{"calibration-right", file.name()}}, {"without calibration-left"}},
      {{{"calibration-left", file.name()}, {"calibration-right", file.name()}},
       {file.name(), "of both cameras", "set calibration instead"}},
      {{{"calibration", file.name()}, {"calibration-left", file.name()}}, {"either calibration"}},
  };
  for (const Fault& fault : faults)
    expect_words(start_error(fault.properties), fault.words);
}

// Pictures too large for a map are refused with their caps, but are accepted without a map.
TEST(test_too_large_to_be_rectified, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const auto caps = [](int large_width, int large_height, const char* more = "") {
    return caps_of(gray(), large_width, large_height, more);
  };
  struct Case {
    Properties properties;
    std::string caps;
    std::vector<std::string> words;  ///< words of the expected error, if there is one
    bool packed = false;             ///< both pictures arrive on one pad
  };
  const std::string remedy = "leave calibration empty", by_drift = "calibration-drift=warn";
  const Case cases[] = {
      {{file.property()}, caps(33000, 32), {"33000×32", "32767", "videoscale", remedy}},
      {{file.property()}, caps(32, 32768), {"32×32768", "32767", remedy}},
      {{{"calibration", "auto"}}, caps(33000, 32), {"33000×32", remedy}},
      {{{"calibration-drift", "correct"}}, caps(33000, 32), {"33000×32", by_drift}},
      {{file.property(), {"frame-packing", "side-by-side"}}, caps(65534, 32), {}, true},
      {{file.property(), {"frame-packing", "top-bottom"}},
       caps(33000, 32),
       {"33000×16", remedy},
       true},
      {{file.property()}, caps(32767, 32), {}},
      {{}, caps(33000, 32), {}},
  };
  for (const Case& one : cases) {
    StereoHarness stereo(few_and(one.properties), !one.packed);
    fail_unless(stereo.send_caps(stereo.left(), one.caps) == one.words.empty(), "%s",
                one.caps.c_str());
    fail_unless(stereo.messages().count(GST_MESSAGE_ERROR) == (one.words.empty() ? 0 : 1), "%s: %s",
                one.caps.c_str(), stereo.messages().text(GST_MESSAGE_ERROR).c_str());
    expect_words(stereo.messages().text(GST_MESSAGE_ERROR), one.words);
  }
}

// The calibration file is read at each start.
TEST(test_starts_again, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, planes[0]);
  const Picture rectified = map_of({file.property()}, photographs.left, photographs.right);
  const Picture raw = map_of({}, photographs.left, photographs.right);
  StereoHarness stereo(few_and({}));
  for (const std::string& name : {std::string(), file.name(), std::string()}) {
    gst_element_set_state(stereo.element(), GST_STATE_READY);
    stereo.set("calibration", name);
    stereo.restart();
    stereo.accept_gray(width, height);
    expect_picture(stereo.match(photographs.left, photographs.right),
                   name.empty() ? raw : rectified, name);
    // While playing, a change of `calibration` has no effect.
    stereo.set("calibration", name.empty() ? file.name() : "");
    expect_picture(stereo.match(photographs.left, photographs.right),
                   name.empty() ? raw : rectified, name);
  }
}

TEST(test_built_without_opencv,
     .unless(unless_built_with_opencv().empty() ? "this build has OpenCV" : "")) {
  expect_words(start_error({{"calibration", "stereo.yml"}}), {"-Dopencv=enabled", "libopencv-dev"});
}
