// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests known-distance of cudasgmstereo, which yields the right camera's yaw.
#include <array>
#include <cmath>

#include "gst/sgmstereo/rig/delayedresult.h"
#include "tests/check/sgmstereo/cameras/mountrig.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"

using namespace check;

namespace {

constexpr int wait = cudavision::pairs_to_wait;
constexpr double focal_length = MovingScene::width, baseline = 100;
// A point on the wall that the disk never covers.
constexpr int place_x = 60, place_y = 40;

double distance_of(double disparity) {
  return focal_length * baseline / disparity;
}

std::string number(double value) {
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, value);
}

std::string known_distance(double millimetres) {
  return std::to_string(place_x) + "," + std::to_string(place_y) + "," + number(millimetres);
}

Properties at_distance(const Properties& more = {}) {
  return correcting(
      joined({{"focal-length", number(focal_length)}, {"baseline", number(baseline)}}, more));
}

double wall_distance() {
  return distance_of(MovingScene().disparities(0)(place_x, place_y));
}

}  // namespace

// The disparities, and thus the depths, become nearly as good as with an unrotated camera.
TEST(test_yaw, .times(3).unless(unless_built_with_opencv())) {
  const Turn turn =
      std::array{Turn{0, 0.25, 0}, Turn{0, -0.25, 0}, Turn{0.3, 0.25, -0.2, 1.002}}[index];
  Rig upright(at_distance()), unaware(at_distance());
  Rig rig(at_distance({{"known-distance", known_distance(wall_distance())}}));
  upright.send({}, 3 * wait);
  unaware.send(turn, 3 * wait);
  rig.send(turn, 3 * wait);
  const double best = upright.wrong({}), wrong = rig.wrong(turn), worst = unaware.wrong(turn);
  fail_unless(wrong < best + 0.015 && worst > best + 0.3, "%.4f instead of %.4f; %.4f without",
              wrong, best, worst);
  const double offset = rig.last_report().number("known-distance-offset");
  fail_unless(std::abs(offset) < 0.25, "%f", offset);
  const double yaw = rig.last_report().number("corrected-yaw");
  fail_unless(std::abs(yaw - turn.yaw) < 0.06, "%f instead of %f", yaw, turn.yaw);
  fail_unless_equals_int(rig.stereo().messages().complaints(), 0);
  expect_words(rig.stereo().messages().texts(GST_MESSAGE_INFO),
               {"known-distance was off by", "In total, the right camera is rotated by"});
}

// Each new distance causes one correction. Later pairs and an empty known-distance cause none.
TEST(test_live, .unless(unless_built_with_opencv())) {
  const Turn turn = {0, 0.25, 0};
  Rig rig(at_distance());
  rig.send(turn, 4);
  fail_unless_equals_int(rig.last_report().corrections(), 0);
  const auto yaw_with = [&](const std::string& distance, guint corrections) {
    rig.stereo().set("known-distance", distance);
    rig.send(turn, 2 * wait);
    fail_unless_equals_int(rig.last_report().corrections(), corrections);
    return rig.last_report().number("corrected-yaw");
  };
  const double yaw = yaw_with(known_distance(wall_distance()), 1);
  yaw_with("", 1);
  // The distance is wrong, as if an obstacle were there.
  fail_unless(std::abs(yaw_with(known_distance(1.3 * wall_distance()), 2) - yaw) > 0.1);
  fail_unless(std::abs(yaw_with(known_distance(wall_distance()), 3) - yaw) < 0.05);
}

// A known distance that agrees with the disparity map causes no new rectification map.
TEST(test_true_already, .unless(unless_built_with_opencv())) {
  Rig rig(at_distance({{"known-distance", known_distance(wall_distance())}}));
  rig.send({}, wait + 4);
  fail_unless_equals_int(rig.last_report().corrections(), 0);
  fail_unless(std::abs(rig.last_report().number("known-distance-offset")) < 0.25);
}

TEST(test_warnings) {
  struct Row {
    Properties properties;
    std::vector<std::string> words;
    bool corrects;
  };
  const Property good = {"known-distance", known_distance(wall_distance())};
  for (const Row& row :
       {Row{{good, {"calibration-drift", "warn"}}, {"calibration-drift=correct"}, false},
        Row{{good, {"calibration-drift", "off"}}, {"calibration-drift=correct"}, false},
        Row{{good, {"baseline", "0"}}, {"but baseline=0: set baseline in mm, or"}, true},
        Row{{{"known-distance", "400,10,1000"}}, {"(400, 10)", "320×240"}, true},
        Row{{{"known-distance", "1e300,10,1000"}}, {"(1e+300, 10)", "320×240"}, true},
        Row{{{"known-distance", "60,40,1e-300"}}, {": 1e-300 mm is", "e+30"}, true},
        Row{{{"known-distance", "60,40,1030.9278"}}, {"31.04 pixels, ", "(0 to 31)"}, true},
        Row{{{"known-distance", "60,40,2"}}, {"outside the searched range", "in mm"}, true}}) {
    if (row.corrects && !unless_built_with_opencv().empty())
      continue;
    Rig rig(at_distance(row.properties));
    rig.send({}, 3);
    rig.stereo().messages().expect_one(GST_MESSAGE_WARNING, row.words);
  }
}

// A distance cannot be measured at pixels without a disparity.
TEST(test_unknown_place, .unless(unless_built_with_opencv())) {
  Rig rig(at_distance({{"known-distance", "160,120,3000"}}));
  const Picture left = noise_picture(gray(), MovingScene::width, MovingScene::height, 1);
  const Picture right = noise_picture(gray(), MovingScene::width, MovingScene::height, 2);
  for (int i = 0; i < 12; ++i)
    rig.process(left, right);
  expect_words(rig.stereo().messages().texts(GST_MESSAGE_WARNING),
               {"pixel (160, 120)", "textured surface"});
}
