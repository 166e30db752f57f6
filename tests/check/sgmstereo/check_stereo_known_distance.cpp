// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the property known-distance of cudasgmstereo: the yaw of the right camera, which rows do
// not show, follows from one distance.
#include <array>
#include <cmath>

#include "gst/sgmstereo/rig/delayedresult.h"
#include "tests/check/common/messagelog.h"
#include "tests/check/sgmstereo/photographedplanes.h"
#include "tests/check/sgmstereo/turnedcameras.h"

using namespace check;

namespace {

constexpr int wait = cudavision::pairs_to_wait;
constexpr double focal_length = MovingScene::width, baseline = 100;
// A place on the wall, where the disk never comes.
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

Properties correcting(const Properties& more = {}) {
  Properties all{{"diagnostics-interval", "1"},
                 {"num-disparities", "32"},
                 {"fill-holes", "true"},
                 {"calibration-drift", "correct"},
                 {"focal-length", number(focal_length)},
                 {"baseline", number(baseline)}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Pairs of the scene, of which the right camera has turned.
class Rig {
 public:
  Rig(const Properties& properties, const Turn& turn) : turn_(turn), stereo_(properties) {
    stereo_.accept_gray(MovingScene::width, MovingScene::height);
  }

  void send(int count) {
    for (int i = 0; i < count; ++i, ++frame_) {
      const GstClockTime time = static_cast<GstClockTime>(frame_) * 40 * ms;
      map_ = stereo_.process(at(time, to_buffer(scene_.left(frame_))),
                             at(time, to_buffer(scene_.right(frame_, turn_))));
    }
  }
  Picture map() const {
    return from_buffer(map_, format_named("GRAY16_LE"), MovingScene::width, MovingScene::height);
  }
  double wrong() const {
    return wrong_share(map(), scene_.camera(turn_), scene_.disparities(frame_ - 1));
  }
  /// Returns a number of the last message.
  double said(const char* field) {
    for (Owned<GstMessage>& message : stereo_.messages().take(GST_MESSAGE_ELEMENT))
      last_ = std::move(message);
    return number_in(structure_of(last_, "cudasgmstereo"), field);
  }
  guint corrections() {
    said("corrected-yaw");
    guint count = 0;
    fail_unless(
        gst_structure_get_uint(structure_of(last_, "cudasgmstereo"), "corrections", &count));
    return count;
  }
  StereoHarness& stereo() { return stereo_; }

 private:
  Turn turn_;
  MovingScene scene_;
  StereoHarness stereo_;
  int frame_ = 0;
  Map map_;
  Owned<GstMessage> last_;
};

double wall_distance() {
  return distance_of(MovingScene().disparities(0)(place_x, place_y));
}

}  // namespace

// Disparities, and with them depths, are then as if the camera had not turned.
TEST(test_yaw, .times(3).unless(unless_built_with_opencv())) {
  const Turn turn = std::array{Turn{0, 0.25, 0}, Turn{0, -0.25, 0},
                               Turn{0.3, 0.25, -0.2, 1.002}}[static_cast<std::size_t>(index)];
  Rig upright(correcting(), {}), unaware(correcting(), turn);
  Rig rig(correcting({{"known-distance", known_distance(wall_distance())}}), turn);
  for (Rig* its : {&upright, &unaware, &rig})
    its->send(3 * wait);
  fail_unless(rig.wrong() < upright.wrong() + 0.015 && unaware.wrong() > upright.wrong() + 0.3,
              "%.4f instead of %.4f; %.4f without", rig.wrong(), upright.wrong(), unaware.wrong());
  fail_unless(std::abs(rig.said("known-distance-offset")) < 0.25, "%f",
              rig.said("known-distance-offset"));
  fail_unless(std::abs(rig.said("corrected-yaw") - turn.yaw) < 0.06, "%f instead of %f",
              rig.said("corrected-yaw"), turn.yaw);
  fail_unless_equals_int(rig.stereo().messages().complaints(), 0);
  fail_unless(rig.stereo().messages().count(GST_MESSAGE_INFO) >= 1);
}

// The property is live, and each value counts once: what moves in front of the place later does not
// turn the camera.
TEST(test_live, .unless(unless_built_with_opencv())) {
  Rig rig(correcting(), {0, 0.25, 0});
  rig.send(4);
  fail_unless_equals_int(rig.corrections(), 0);
  rig.stereo().set("known-distance", known_distance(wall_distance()));
  rig.send(2 * wait);
  fail_unless_equals_int(rig.corrections(), 1);
  const double yaw = rig.said("corrected-yaw");
  rig.stereo().set("known-distance", "");
  rig.send(2 * wait);
  fail_unless_equals_int(rig.corrections(), 1);
  // A distance that is not true, as if something stood there.
  rig.stereo().set("known-distance", known_distance(1.3 * wall_distance()));
  rig.send(2 * wait);
  fail_unless_equals_int(rig.corrections(), 2);
  fail_unless(std::abs(rig.said("corrected-yaw") - yaw) > 0.1);
  rig.stereo().set("known-distance", known_distance(wall_distance()));
  rig.send(2 * wait);
  fail_unless_equals_int(rig.corrections(), 3);
  fail_unless(std::abs(rig.said("corrected-yaw") - yaw) < 0.05);
}

// A distance that agrees needs no other map.
TEST(test_true_already, .unless(unless_built_with_opencv())) {
  Rig rig(correcting({{"known-distance", known_distance(wall_distance())}}), {});
  rig.send(wait + 4);
  fail_unless_equals_int(rig.corrections(), 0);
  fail_unless(std::abs(rig.said("known-distance-offset")) < 0.25);
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
        Row{{good, {"baseline", "0"}}, {"focal-length and baseline"}, true},
        Row{{{"known-distance", "400,10,1000"}}, {"(400, 10)", "320x240"}, true},
        Row{{{"known-distance", "1e300,10,1000"}}, {"(1e+300, 10)", "320x240"}, true},
        Row{{{"known-distance", "60,40,1e-300"}}, {"distance of 0 mm", "e+30"}, true},
        Row{{{"known-distance", "60,40,2"}}, {"is not searched", "millimetres"}, true}}) {
    if (row.corrects && !unless_built_with_opencv().empty())
      continue;
    Rig rig(correcting(row.properties), {});
    rig.send(3);
    fail_unless_equals_int(rig.stereo().messages().count(GST_MESSAGE_WARNING), 1);
    expect_words(rig.stereo().messages().text(GST_MESSAGE_WARNING), row.words);
  }
}

// Where nothing is known, the distance cannot be measured.
TEST(test_unknown_place, .unless(unless_built_with_opencv())) {
  StereoHarness stereo(correcting({{"known-distance", "160,120,3000"}}));
  stereo.accept_gray(MovingScene::width, MovingScene::height);
  const Picture left =
      noise_picture(format_named("GRAY8"), MovingScene::width, MovingScene::height, 1);
  const Picture right =
      noise_picture(format_named("GRAY8"), MovingScene::width, MovingScene::height, 2);
  for (int i = 0; i < 12; ++i)
    stereo.process(at(i * 40 * ms, to_buffer(left)), at(i * 40 * ms, to_buffer(right)));
  std::string texts;
  for (const Owned<GstMessage>& message : stereo.messages().take(GST_MESSAGE_WARNING)) {
    GError* error = nullptr;
    gst_message_parse_warning(message, &error, nullptr);
    texts += error->message;
    g_error_free(error);
  }
  expect_words(texts, {"pixel (160, 120)", "with texture"});
}
