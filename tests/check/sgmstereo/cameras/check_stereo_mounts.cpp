// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how cudasgmstereo reports and corrects a right camera that has rotated in its mount.
#include <cmath>

#include "gst/sgmstereo/rig/delayedresult.h"
#include "tests/check/sgmstereo/cameras/mountrig.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"

using namespace check;

namespace {

constexpr int wait = cudavision::pairs_to_wait;

void expect_found(const Report& report, const char* field, double truth, double slack) {
  const double found = report.number(field);
  const double error = report.number((std::string(field) + "-error").c_str());
  fail_unless(error > 0 && std::abs(found - truth) < 4 * error + slack,
              "%s is %g ± %g instead of %g", field, found, error, truth);
}

struct Corrector {
  Properties properties;
  const char* count;  ///< message field with the number of corrections
};
const std::vector<Corrector> correctors = {
    {correcting(), "corrections"}, {watching("warn", {{"calibration", "auto"}}), "calibrations"}};

}  // namespace

// By default, the message reports the rotation, and a warning follows if the rotation matters.
TEST(test_warning) {
  const Turn turn = {0.1, 0, 0.3, 1.002};
  Properties properties = watching("warn");
  properties.pop_back();  // leaves calibration-drift at its default
  Rig cameras(properties);
  cameras.send(turn, 12);
  const Report& report = cameras.last_report();
  expect_found(report, "pitch", turn.pitch, 0.02);
  expect_found(report, "roll", turn.roll, 0.04);
  expect_found(report, "zoom", turn.zoom, 0.0005);
  expect_found(report, "yaw", 0, 0.1);
  fail_unless(report.number("rows-off") > 0.4 && report.number("rows-off") < 2);
  fail_unless(report.number("rows-off-error") < 0.1);
  fail_if(report.has("corrections"));
  cameras.stereo().messages().expect_one(
      GST_MESSAGE_WARNING,
      {"pixels apart, because the right camera is rotated by", "in pitch", "in roll",
       "set calibration-drift=correct, or rectify the pictures again upstream."});
}

TEST(test_off) {
  Rig cameras(watching("off"));
  cameras.send({0.1, 0, 0.1}, 6);
  const Report& report = cameras.last_report();
  for (const char* field : {"rows-off", "pitch", "yaw", "roll", "zoom", "corrections"})
    fail_if(report.has(field), "%s", field);
  fail_unless_equals_int(cameras.stereo().messages().complaints(), 0);
}

// Well-mounted cameras cause no warning, and the correction changes no output.
TEST(test_good_cameras, .times(correctors.size()).unless(unless_built_with_opencv())) {
  const MovingScene scene;
  Rig off(watching("off")), warned(watching("warn")), corrected(correctors[index].properties);
  for (int i = 0; i < 30; ++i) {
    const Picture left = scene.left(i), right = scene.right(i, {});
    const Picture expected = off.process(left, right);
    expect_picture(warned.process(left, right), expected, "warn");
    expect_picture(corrected.process(left, right), expected, "correct");
  }
  for (Rig* cameras : {&warned, &corrected}) {
    const Report& report = cameras->last_report();
    fail_unless(cameras == &warned || report.count(correctors[index].count) == 0);
    fail_unless(!report.has("rows-off") || report.number("rows-off") < 0.15);
    fail_unless_equals_int(cameras->stereo().messages().complaints(), 0);
    fail_unless_equals_int(cameras->stereo().messages().count(GST_MESSAGE_INFO), 0);
  }
  fail_unless(warned.last_report().has("rows-off"));
}

// Pictures that are not simultaneous must not look like rotations or diverging cameras.
TEST(test_not_simultaneous, .times(correctors.size()).unless(unless_built_with_opencv())) {
  Rig cameras(correctors[index].properties);
  for (int i = 0; i < 24; ++i)
    cameras.send({i % 2 == 0 ? 0.6 : -0.6, 0, 0}, 1);
  fail_unless_equals_int(cameras.last_report().count(correctors[index].count), 0);
  if (index == 0)
    expect_words(cameras.stereo().messages().text(GST_MESSAGE_WARNING), {"at the same time"});
}

TEST(test_without_texture, .times(correctors.size()).unless(unless_built_with_opencv())) {
  Rig cameras(correctors[index].properties);
  const Picture flat =
      make_picture(gray(), MovingScene::width, MovingScene::height, Content::flat, 1);
  for (int i = 0; i < 6; ++i)
    cameras.process(flat, flat);
  fail_if(cameras.last_report().has("rows-off"));
  fail_unless_equals_int(cameras.last_report().count(correctors[index].count), 0);
}

// A build without OpenCV refuses to correct rotations.
TEST(test_without_opencv,
     .unless(unless_built_with_opencv().empty() ? "this build has OpenCV" : "")) {
  expect_words(
      expect_failed_start(make_element("cudasgmstereo", {{"calibration-drift", "correct"}}).get()),
      {"without OpenCV", "calibration-drift=correct needs"});
}

// With a calibration, a corrected map replaces the calibration's map.
TEST(test_corrected_calibration, .unless(unless_built_with_opencv())) {
  for (const bool fisheye : {false, true}) {
    const CalibrationFile file(fisheye);
    const Plane plane{24, 0.03, 0.01};
    const Camera left = left_camera(fisheye), right = right_camera(fisheye);
    // Camera::turned maps the camera's coordinates to the rectified pair's. The small rotation
    // is applied in the camera's coordinates, so it is the second factor: turned × rotation.
    Camera moved = right;
    const double pitch = 0.008, roll = -0.009;
    const Rotation& r = right.turned;
    for (std::size_t i = 0; i < 3; ++i) {
      moved.turned[3 * i] = r[3 * i] - roll * r[3 * i + 1];
      moved.turned[3 * i + 1] = r[3 * i + 1] + roll * r[3 * i] - pitch * r[3 * i + 2];
      moved.turned[3 * i + 2] = r[3 * i + 2] + pitch * r[3 * i + 1];
    }
    const Photographs before(left, right, plane), after(left, moved, plane);
    const auto share = [&](const char* drift, const Photographs& photographs) {
      Rig cameras(watching(drift, {file.property()}));
      Picture map(format_named("GRAY16_LE"), camera_width, camera_height);
      for (int i = 0; i < 20; ++i)
        map = cameras.process(photographs.left, photographs.right);
      int all = 0, wrong = 0;
      for (int v = 20; v < camera_height - 20; ++v)
        for (int u = 60; u < camera_width - 30; ++u) {
          const int found = disparity_at(map, u, v);
          ++all;
          wrong += found == -16 || std::abs(found - 16 * plane.disparity(u, v)) > 16;
        }
      fail_unless(*drift != 'c' || cameras.stereo().messages().complaints() == 0);
      return static_cast<double>(wrong) / all;
    };
    const double best = share("off", before), corrected = share("correct", after);
    const double left_alone = share("off", after);
    fail_unless(corrected < best + 0.015 && left_alone > best + 0.1,
                "%.4f of the pixels are wrong instead of %.4f; %.4f uncorrected", corrected, best,
                left_alone);
    fail_unless(share("correct", before) <= best);
  }
}

// A corrected map takes effect between two pairs, a fixed number of pairs after the decision.
TEST(test_when, .unless(unless_built_with_opencv())) {
  const Turn turn = {0.4, 0, -0.3};
  std::vector<Picture> expected;
  for (const char* in_flight : {"1", "1", "4"}) {
    Rig off(watching("off"));
    Rig cameras(correcting({{"frames-in-flight", in_flight}}));
    int decided = -1, first = -1;
    for (int i = 0; i < 16; ++i) {
      const Picture as_it_is = off.next(turn), map = cameras.next(turn);
      if (expected.size() <= static_cast<std::size_t>(i))
        expected.push_back(map);
      expect_picture(map, expected[i], in_flight);
      if (first < 0 && !difference(map, as_it_is).empty())
        first = i;
      if (decided < 0 && cameras.last_report().corrections() > 0)
        decided = i;
    }
    fail_unless(decided == 1 && first == decided + wait, "decided with pair %d, changed with %d",
                decided, first);
  }
}

// The camera is knocked into another rotation while the element plays.
TEST(test_knocked_camera, .unless(unless_built_with_opencv())) {
  const Turn before = {0.3, 0, 0.2}, after = {-0.4, 0, -0.3, 1.003};
  Rig cameras(correcting()), upright(watching("off"));
  cameras.send(before, 25);
  upright.send({}, 25);
  cameras.send(after, 21);
  upright.send({}, 21);
  const double share = cameras.wrong(after), best = upright.wrong(after);
  fail_unless(share < best + 0.015, "%.4f instead of %.4f", share, best);
  // The distance of rows depends on the previous correction, unlike the rotation.
  const std::string texts = cameras.stereo().messages().texts(GST_MESSAGE_INFO);
  expect_words(texts, {"pixels apart: a correction", "In total, the right camera is rotated by"});
  fail_unless(texts.find("because") == std::string::npos, "%s", texts.c_str());
}

// A correction survives flushes and new caps, even of another size, and ends with a stop.
TEST(test_life, .unless(unless_built_with_opencv())) {
  const Turn turn = {0.4, 0, -0.3};
  Rig cameras(correcting());
  cameras.send(turn, 4);
  cameras.stereo().flush();
  cameras.send(turn, 12);
  const double corrected = cameras.last_report().number("corrected-pitch");
  fail_unless(std::abs(corrected - turn.pitch) < 0.05, "%f", corrected);
  cameras.stereo().accept_gray(160, 120);
  const Picture small = noise_picture(gray(), 160, 120, 1);  // shows no rotation
  cameras.process(small, shifted(small, 5));
  fail_unless(cameras.last_report().number("corrected-pitch") == corrected);
  // The stop comes while another map is being made.
  cameras.stereo().accept_gray(MovingScene::width, MovingScene::height);
  cameras.send({-0.4, 0, 0.3}, 3);
  cameras.stereo().restart();
  cameras.stereo().accept_gray(MovingScene::width, MovingScene::height);
  cameras.send({}, 1);
  const Report& restarted = cameras.last_report();
  fail_unless(restarted.number("corrected-pitch") == 0 && restarted.corrections() == 0);
}
