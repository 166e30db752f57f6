// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests calibration=auto of cudasgmstereo, which aligns the rows of uncalibrated cameras.
#include <algorithm>
#include <array>
#include <cmath>

#include "gst/sgmstereo/rig/selfcalibration.h"
#include "tests/check/sgmstereo/cameras/chessboards.h"
#include "tests/check/sgmstereo/cameras/mountrig.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"

using namespace check;

namespace {

constexpr Turn turned = {0.9, 0, -0.7, 1.006};

Properties calibrating(const Properties& more = {}) {
  return joined({{"diagnostics-interval", "1"}, {"num-disparities", "32"}, {"calibration", "auto"}},
                more);
}

Rig chessboard_rig(const Properties& properties) {
  return Rig(calibrating(joined({{"num-disparities", "256"}}, properties)), MovingScene(),
             {640, 480});
}

void expect_rows(Rig& rig, double rows_off, double spread) {
  const Report& report = rig.last_report();
  fail_unless(report.number("rows-off") >= 0 && report.number("rows-off") < rows_off, "%f",
              report.number("rows-off"));
  fail_unless(report.number("vertical-spread") < spread, "%f", report.number("vertical-spread"));
}

void expect_start(const Properties& properties) {
  const Owned<GstElement> element = make_element("cudasgmstereo", properties);
  fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  gst_element_set_state(element, GST_STATE_NULL);
}

}  // namespace

TEST(test_names, .unless(unless_built_with_opencv())) {
  expect_start({{"calibration", "auto"}});
  expect_words(start_error({{"calibration", "./auto"}}), {"./auto"});
  expect_words(start_error({{"calibration", "auto"}, {"calibration-left", "left.yml"}}),
               {"either", "calibration-left"});
}

TEST(test_without_opencv,
     .unless(unless_built_with_opencv().empty() ? "this build has OpenCV" : "")) {
  expect_words(start_error({{"calibration", "auto"}}), {"without OpenCV", "calibration=auto"});
}

TEST(test_without_inspections, .unless(unless_built_with_opencv())) {
  StereoHarness stereo({{"calibration", "auto"}, {"diagnostics-interval", "0"}});
  expect_words(stereo.messages().text(GST_MESSAGE_WARNING), {"diagnostics-interval"});
}

// A calibration soon makes nearly as many disparities valid as with an unrotated right camera.
TEST(test_turned, .unless(unless_built_with_opencv())) {
  Rig upright(calibrating({{"calibration", ""}})), alone(calibrating({{"calibration", ""}}));
  Rig rig(calibrating());
  constexpr int pairs = 26;
  upright.send({}, pairs);
  alone.send(turned, pairs);
  rig.send(turned, pairs);
  g_print("turned: %.3f known, %.3f without a calibration, %.3f upright; rows off by %.2f\n",
          rig.mean_known(5), alone.mean_known(5), upright.mean_known(5),
          rig.last_report().number("rows-off"));
  fail_unless(rig.mean_known(5) > upright.mean_known(5) - 0.03);
  fail_unless(alone.mean_known(5) < upright.mean_known(5) - 0.2);
  expect_rows(rig, 0.3, 0.4);
  fail_unless(rig.last_report().calibrations() >= 1 && rig.reports()[0].calibrations() == 0);
  fail_unless_equals_int(rig.stereo().messages().complaints(), 0);
  const auto information = rig.stereo().messages().take(GST_MESSAGE_INFO);
  fail_unless(information.size() >= rig.last_report().calibrations());
}

// The rows of distorted, diverging cameras are aligned nearly as well as with the calibration file.
TEST(test_distorted, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Properties search{{"num-disparities", "64"}, {"focal-length", "260"}};
  Rig alone(calibrating({search[0], {"calibration", ""}}));
  Rig calibrated(calibrating({search[0], file.property()})), rig(calibrating(search));
  constexpr int rounds = 12;
  const Plane planes[] = {{24, 0.03, 0.01}, {18, -0.02, 0}, {30, 0, 0.03}, {14, 0.01, -0.02}};
  std::vector<Photographs> photographs;
  for (const Plane& plane : planes)
    photographs.emplace_back(left_camera(false), right_camera(false), plane);
  for (int i = 0; i < rounds; ++i)
    for (const Photographs& pair : photographs) {
      rig.process(pair.left, pair.right);
      if (i + 1 == rounds) {
        calibrated.process(pair.left, pair.right);
        alone.process(pair.left, pair.right);
      }
    }
  g_print("distorted: %.3f known, %.3f with a file, %.3f without; rows off by %.2f\n",
          rig.mean_known(4), calibrated.mean_known(4), alone.mean_known(4),
          rig.last_report().number("rows-off"));
  fail_unless(rig.mean_known(4) > calibrated.mean_known(4) - 0.03);
  expect_rows(rig, 0.5, 0.5);
}

// Rows agree to half a pixel, and at least as many disparities are valid as with the file.
TEST(test_chessboards, .unless(unless_chessboards())) {
  const std::vector<ChessboardPair> pairs = chessboards();
  const ChessboardCalibration file;
  Rig calibrated = chessboard_rig({file.property()});
  Rig as_large = chessboard_rig({file.property(), {"alpha", "0"}});
  for (const ChessboardPair& pair : pairs) {
    calibrated.process(pair.left, pair.right);
    as_large.process(pair.left, pair.right);
  }
  Rig rig = chessboard_rig({});
  for (int round = 0; round < 7; ++round)
    for (const ChessboardPair& pair : pairs)
      rig.process(pair.left, pair.right);
  std::vector<double> spreads;
  for (std::size_t i = rig.reports().size() - pairs.size(); i < rig.reports().size(); ++i)
    spreads.push_back(rig.reports()[i].number("vertical-spread"));
  std::sort(spreads.begin(), spreads.end());
  g_print(
      "chessboards: %.4f valid, %.4f with the calibration file, %.4f with the file and alpha=0; "
      "rows off by %.2f, median spread %.2f\n",
      rig.mean_known(pairs.size()), calibrated.mean_known(pairs.size()),
      as_large.mean_known(pairs.size()), rig.last_report().number("rows-off"),
      spreads[spreads.size() / 2]);
  fail_unless(rig.mean_known(pairs.size()) >= calibrated.mean_known(pairs.size()));
  fail_unless(rig.last_report().number("rows-off") >= 0 &&
              rig.last_report().number("rows-off") < 0.5);
  fail_unless(spreads[spreads.size() / 2] < 0.5);
}

// In every run, a calibration takes effect at the same pair, regardless of the pairs in flight.
TEST(test_same_every_time, .unless(unless_built_with_opencv())) {
  constexpr int pairs = 24;
  std::vector<Picture> expected;
  int first = -1;
  for (const char* in_flight : {"1", "1", "4"}) {
    Rig rig(calibrating({{"frames-in-flight", in_flight}}));
    for (int i = 0; i < pairs; ++i) {
      const Picture map = rig.next(turned);
      if (expected.size() <= static_cast<std::size_t>(i))
        expected.push_back(map);
      expect_picture(map, expected[i], in_flight);
      if (first < 0 && rig.last_report().calibrations() > 0)
        first = i;
    }
    fail_unless(rig.reports()[first].calibrations() == 1 &&
                rig.reports()[first - 1].calibrations() == 0);
  }
  fail_unless(first >= 1 + cudavision::pairs_to_wait);
}

TEST(test_pads, .unless(unless_built_with_opencv())) {
  const MovingScene scene;
  StereoHarness stereo(calibrating({{"baseline", "100"}}));
  GstHarness* depth = stereo.open("depth");
  GstHarness* rectified = stereo.open("rectified");
  GstHarness* points = stereo.open("points");
  stereo.accept_gray(MovingScene::width, MovingScene::height);
  bool changed = false;
  for (int i = 0; i < 24; ++i) {
    const Picture left = scene.left(i);
    stereo.process(left, scene.right(i, turned), i * frame_time);
    for (GstHarness* pad : {depth, points})
      fail_if(Owned<GstBuffer>(wait_for_buffer(pad)).get() == nullptr);
    const Owned<GstBuffer> shown(wait_for_buffer(rectified));
    const bool differs = !difference(picture_at(rectified->sinkpad, shown), left).empty();
    fail_unless(i > 0 || !differs);
    changed = changed || differs;
  }
  fail_unless(changed);
  // A single warning reports that the depths are not metric.
  stereo.messages().expect_one(GST_MESSAGE_WARNING, {"not metric", "focal length and yaw."});
}

// If all lengths are set, there is no warning.
TEST(test_unknown_lengths, .unless(unless_built_with_opencv())) {
  for (const auto& [focal_length, distance, remedy] :
       {std::array{"0", "", "Set focal-length and known-distance, or"},
        std::array{"320", "", "Set known-distance, or"},
        std::array{"0", "60,40,3300", "Set focal-length, or"},
        std::array{"320", "60,40,3300", ""}}) {
    Rig rig(calibrating({{"output", "depth"},
                         {"baseline", "100"},
                         {"focal-length", focal_length},
                         {"known-distance", distance}}));
    rig.send({}, 2);
    fail_unless_equals_int(rig.stereo().messages().complaints(), *remedy ? 1 : 0);
    expect_words(rig.stereo().messages().text(GST_MESSAGE_WARNING), {remedy});
  }
}

// A calibration survives flushes and scaled pictures, and ends with a stop or another aspect ratio.
TEST(test_life, .unless(unless_built_with_opencv())) {
  Rig rig(calibrating());
  rig.send(turned, 8);
  rig.stereo().flush();
  rig.send(turned, 16);
  fail_unless(rig.last_report().calibrations() >= 1);
  const guint count = rig.last_report().calibrations();
  rig.stereo().accept_gray(160, 120);
  const Picture small = noise_picture(gray(), 160, 120, 1);
  rig.process(small, shifted(small, 5));
  fail_unless(rig.last_report().calibrations() >= count);
  rig.stereo().accept_gray(160, 100);
  const Picture other = noise_picture(gray(), 160, 100, 1);
  rig.process(other, shifted(other, 5));
  fail_unless_equals_int(rig.last_report().calibrations(), 0);
  rig.stereo().accept_gray(MovingScene::width, MovingScene::height);
  rig.send(turned, 4);
  rig.stereo().restart();
  rig.stereo().accept_gray(MovingScene::width, MovingScene::height);
  rig.send({}, 1);
  fail_unless_equals_int(rig.last_report().calibrations(), 0);
}

// Rotations after the calibration are corrected, too, unless calibration-drift is off.
TEST(test_turns_again, .times(3).unless(unless_built_with_opencv())) {
  const char* drift = (const char*[]){"warn", "correct", "off"}[index];
  Rig rig(calibrating({{"calibration-drift", drift}}));
  const Turn after = {0.6, 0, -0.4, 1.006};
  rig.send(turned, 40);
  const double before = rig.mean_known(5);
  rig.send(after, 30);
  const double known = rig.mean_known(5);
  g_print("%s: %.3f known before a blow, %.3f after it\n", drift, before, known);
  if (index != 2)
    fail_unless(known > before - 0.05 && rig.last_report().number("rows-off") < 0.3);
  else
    rig.stereo().messages().expect_one(GST_MESSAGE_WARNING,
                                       {"The calibration of calibration=auto does not fit"});
  fail_unless(rig.last_report().has("rows-off") == (index != 2));
  fail_unless_equals_int(rig.stereo().messages().count(GST_MESSAGE_ERROR), 0);
}

TEST(test_baseline_is_needed, .unless(unless_built_with_opencv())) {
  expect_words(start_error({{"calibration", "auto"}, {"output", "depth"}}), {"baseline"});
  expect_start({{"calibration", "auto"}, {"output", "depth"}, {"baseline", "60"}});
}

// Depths scale with baseline. A focal-length that equals the guess gives the same depths.
TEST(test_lengths, .unless(unless_built_with_opencv())) {
  const auto depths = [&](const Properties& lengths, bool live) {
    Rig rig(calibrating({{"output", "depth"}, {"depth-unit", "1"}, lengths[0], lengths[1]}));
    std::vector<double> medians;
    for (int i = 0; i < 24; ++i) {
      if (live && i == 12)
        rig.stereo().set("baseline", "200");
      const Picture map = rig.next(turned);
      std::vector<int> known;
      for (int y = 0; y < map.height; ++y)
        for (int x = 0; x < map.width; ++x)
          if (const int depth = map.sample(0, x, y); depth > 0)
            known.push_back(depth);
      std::sort(known.begin(), known.end());
      medians.push_back(known.empty() ? 0 : known[known.size() / 2]);
    }
    return medians;
  };
  const auto guessed = depths({{"baseline", "100"}, {"focal-length", "0"}}, false);
  const auto longer = depths({{"baseline", "100"}, {"focal-length", "0"}}, true);
  const auto given = depths({{"baseline", "100"}, {"focal-length", "320"}}, false);
  // The scene's focal length equals its width, which is also the element's guess.
  for (std::size_t i = 0; i < guessed.size(); ++i) {
    fail_unless(std::abs(given[i] - guessed[i]) <= 1);
    fail_unless(std::abs(longer[i] - (i < 12 ? 1 : 2) * guessed[i]) <= 2);
  }
  // The median disparity of the wall is about 9.5, which means a depth of 320·100/9.5 mm.
  fail_unless(std::abs(guessed.back() - 3300) < 500, "%f", guessed.back());
}

// A known distance yields the yaw, which the alignment of rows does not reveal.
TEST(test_known_distance, .unless(unless_built_with_opencv())) {
  const MovingScene scene;
  const double disparity = scene.disparities(0)(60, 40);
  gchar text[80];
  g_snprintf(text, sizeof text, "60,40,%d", static_cast<int>(std::lround(32000 / disparity)));
  Rig rig(calibrating({{"baseline", "100"}, {"focal-length", "320"}, {"known-distance", text}}));
  const Turn turn = {0.9, 0.4, -0.7, 1.006};
  rig.send(turn, 60);
  const Picture map = rig.next(turn);
  std::vector<double> known;
  for (int y = 37; y <= 43; ++y)
    for (int x = 57; x <= 63; ++x)
      if (const int found = disparity_at(map, x, y); found != -16)
        known.push_back(found / 16.0);
  fail_if(known.size() < 20);
  std::sort(known.begin(), known.end());
  const double found = known[known.size() / 2];
  // Rectification scales the picture down slightly, and the disparities with it.
  fail_unless(std::abs(found - disparity) < 0.8, "%f instead of %f", found, disparity);
}
