// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests calibration=auto of cudasgmstereo: cameras without a calibration, whose rows it aligns.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gst/sgmstereo/rig/selfcalibration.h"
#include "tests/check/common/messagelog.h"
#include "tests/check/sgmstereo/chessboards.h"
#include "tests/check/sgmstereo/photographedplanes.h"
#include "tests/check/sgmstereo/turnedcameras.h"

using namespace check;

namespace {

constexpr GstClockTime frame_time = 40 * ms;
constexpr Turn turned = {0.9, 0, -0.7, 1.006};

Properties calibrating(const Properties& more = {}) {
  Properties all{{"diagnostics-interval", "1"}, {"num-disparities", "32"}, {"calibration", "auto"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// What the element has said about a pair.
struct Said {
  double known = 0, rows_off = -1, spread = -1;
  double pitch = 0;  ///< corrected
  int calibrations = -1;
};

/// A stream of pairs.
class Rig {
 public:
  explicit Rig(const Properties& properties, int width = MovingScene::width,
               int height = MovingScene::height)
      : stereo_(properties) {
    stereo_.accept_gray(width, height);
  }

  Picture process(const Picture& left, const Picture& right) {
    const GstClockTime time = static_cast<GstClockTime>(frame_++) * frame_time;
    const Map map = stereo_.process(at(time, to_buffer(left)), at(time, to_buffer(right)));
    listen();
    return from_buffer(map, format_named("GRAY16_LE"), left.width, left.height);
  }
  /// Sends the next pair of the moving scene.
  Picture next(const Turn& turn) {
    const int frame = frame_;
    return process(scene_.left(frame), scene_.right(frame, turn));
  }
  void send(const Turn& turn, int count) {
    for (int i = 0; i < count; ++i)
      next(turn);
  }

  const Said& last() const { return said_.back(); }
  const std::vector<Said>& said() const { return said_; }
  int frames() const { return frame_; }
  StereoHarness& stereo() { return stereo_; }
  double mean_known(std::size_t pairs) const {
    return std::accumulate(said_.end() - static_cast<std::ptrdiff_t>(pairs), said_.end(), 0.0,
                           [](double sum, const Said& said) { return sum + said.known; }) /
           static_cast<double>(pairs);
  }

 private:
  void listen() {
    for (const Owned<GstMessage>& message : stereo_.messages().take(GST_MESSAGE_ELEMENT)) {
      const GstStructure* figures = structure_of(message, "cudasgmstereo");
      Said said;
      said.known = number_in(figures, "known");
      const auto read = [&](const char* field, double& to) {
        if (gst_structure_has_field(figures, field))
          to = number_in(figures, field);
      };
      read("rows-off", said.rows_off);
      read("vertical-spread", said.spread);
      read("corrected-pitch", said.pitch);
      guint count = 0;
      if (gst_structure_get_uint(figures, "calibrations", &count))
        said.calibrations = static_cast<int>(count);
      said_.push_back(said);
    }
  }

  StereoHarness stereo_;
  MovingScene scene_;
  std::vector<Said> said_;
  int frame_ = 0;
};

std::string start_error(const Properties& properties) {
  const Owned<GstElement> element = new_element("cudasgmstereo");
  MessageLog log(element);
  for (const Property& property : properties)
    set_property(element, property.first, property.second);
  const bool failed = gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE;
  const std::string text = log.text(GST_MESSAGE_ERROR);
  gst_element_set_state(element, GST_STATE_NULL);
  return failed ? text : "";
}

}  // namespace

/* The property */

TEST(test_names, .unless(unless_built_with_opencv())) {
  fail_unless(start_error({{"calibration", "auto"}}).empty());
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

/* Rows */

// The right camera has turned: after some pairs, as much is known as if it had not.
TEST(test_turned, .unless(unless_built_with_opencv())) {
  Rig upright(calibrating({{"calibration", ""}})), alone(calibrating({{"calibration", ""}}));
  Rig rig(calibrating());
  constexpr int pairs = 26;
  upright.send({}, pairs);
  alone.send(turned, pairs);
  rig.send(turned, pairs);
  g_print("turned: %.3f known, %.3f without a calibration, %.3f upright; rows off by %.2f\n",
          rig.mean_known(5), alone.mean_known(5), upright.mean_known(5), rig.last().rows_off);
  fail_unless(rig.mean_known(5) > upright.mean_known(5) - 0.03);
  fail_unless(alone.mean_known(5) < upright.mean_known(5) - 0.2);
  fail_unless(rig.last().rows_off >= 0 && rig.last().rows_off < 0.3, "%f", rig.last().rows_off);
  fail_unless(rig.last().spread < 0.4, "%f", rig.last().spread);
  fail_unless(rig.last().calibrations >= 1 && rig.said()[0].calibrations == 0);
  fail_unless_equals_int(rig.stereo().messages().complaints(), 0);
  const auto information = rig.stereo().messages().take(GST_MESSAGE_INFO);
  fail_unless(static_cast<int>(information.size()) >= rig.last().calibrations);
}

// Lenses that distort, in cameras that look in different directions: rows are nearly as near as
// with the calibration.
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
          rig.mean_known(4), calibrated.mean_known(4), alone.mean_known(4), rig.last().rows_off);
  fail_unless(rig.mean_known(4) > calibrated.mean_known(4) - 0.03);
  fail_unless(rig.last().rows_off >= 0 && rig.last().rows_off < 0.5, "%f", rig.last().rows_off);
  fail_unless(rig.last().spread < 0.5, "%f", rig.last().spread);
}

// OpenCV's photographs of chessboards: rows within half a pixel, and as much is known as with a
// file.
TEST(test_chessboards, .unless(unless_chessboards())) {
  const std::vector<ChessboardPair> pairs = chessboards();
  const ChessboardCalibration file;
  const Property disparities{"num-disparities", "256"};
  Rig calibrated(calibrating({disparities, file.property()}), 640, 480);
  Rig as_large(calibrating({disparities, file.property(), {"alpha", "0"}}), 640, 480);
  for (const ChessboardPair& pair : pairs) {
    calibrated.process(pair.left, pair.right);
    as_large.process(pair.left, pair.right);
  }
  Rig rig(calibrating({disparities}), 640, 480);
  for (int round = 0; round < 7; ++round)
    for (const ChessboardPair& pair : pairs)
      rig.process(pair.left, pair.right);
  std::vector<double> spreads;
  for (std::size_t i = rig.said().size() - pairs.size(); i < rig.said().size(); ++i)
    spreads.push_back(rig.said()[i].spread);
  std::sort(spreads.begin(), spreads.end());
  g_print(
      "chessboards: %.4f known, %.4f with the file, %.4f with it and alpha=0; rows off by %.2f, "
      "middle spread %.2f\n",
      rig.mean_known(pairs.size()), calibrated.mean_known(pairs.size()),
      as_large.mean_known(pairs.size()), rig.last().rows_off, spreads[spreads.size() / 2]);
  fail_unless(rig.mean_known(pairs.size()) >= calibrated.mean_known(pairs.size()));
  fail_unless(rig.last().rows_off >= 0 && rig.last().rows_off < 0.5);
  fail_unless(spreads[spreads.size() / 2] < 0.5);
}

// Cameras in good order stay as they are, to the bit.
TEST(test_good_cameras, .unless(unless_built_with_opencv())) {
  Rig alone(calibrating({{"calibration", ""}})), rig(calibrating());
  for (int i = 0; i < 24; ++i)
    expect_picture(rig.next({}), alone.next({}), "in good order");
  fail_unless_equals_int(rig.last().calibrations, 0);
  fail_unless_equals_int(rig.stereo().messages().count(GST_MESSAGE_INFO), 0);
}

// Pictures that are not taken at the same time are no cameras that look in different directions.
TEST(test_not_simultaneous, .unless(unless_built_with_opencv())) {
  Rig rig(calibrating());
  for (int i = 0; i < 24; ++i)
    rig.send({i % 2 == 0 ? 0.6 : -0.6, 0, 0}, 1);
  fail_unless_equals_int(rig.last().calibrations, 0);
}

// Nothing can be found out: pictures stay as they are.
TEST(test_without_texture, .unless(unless_built_with_opencv())) {
  Rig rig(calibrating());
  const Picture flat = make_picture(format_named("GRAY8"), MovingScene::width, MovingScene::height,
                                    Content::flat, 1);
  for (int i = 0; i < 6; ++i)
    rig.process(flat, flat);
  fail_unless_equals_int(rig.last().calibrations, 0);
}

/* When */

// Calibrations take effect with the same pairs in every run, whatever is in flight.
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
      expect_picture(map, expected[static_cast<std::size_t>(i)], in_flight);
      if (first < 0 && rig.last().calibrations > 0)
        first = i;
    }
    fail_unless(rig.said()[static_cast<std::size_t>(first)].calibrations == 1 &&
                rig.said()[static_cast<std::size_t>(first) - 1].calibrations == 0);
  }
  fail_unless(first >= 1 + cudavision::pairs_to_wait);
}

// All pads go on when a calibration takes effect, and show what it rectifies.
TEST(test_pads, .unless(unless_built_with_opencv())) {
  const MovingScene scene;
  StereoHarness stereo(calibrating({{"baseline", "100"}}));
  GstHarness* depth = stereo.open("depth");
  GstHarness* rectified = stereo.open("rectified");
  GstHarness* points = stereo.open("points");
  stereo.accept_gray(MovingScene::width, MovingScene::height);
  bool changed = false;
  for (int i = 0; i < 24; ++i) {
    const GstClockTime time = static_cast<GstClockTime>(i) * frame_time;
    const Picture left = scene.left(i);
    stereo.process(at(time, to_buffer(left)), at(time, to_buffer(scene.right(i, turned))));
    for (GstHarness* pad : {depth, points})
      fail_if(Owned<GstBuffer>(wait_for_buffer(pad)).get() == nullptr);
    const Owned<GstBuffer> shown(wait_for_buffer(rectified));
    const bool differs =
        !difference(from_buffer(shown, format_named("GRAY8"), left.width, left.height), left)
             .empty();
    fail_unless(i > 0 || !differs);
    changed = changed || differs;
  }
  fail_unless(changed);
  // One warning says that these lengths are no measures.
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_WARNING), 1);
  expect_words(stereo.messages().text(GST_MESSAGE_WARNING), {"no measures", "baseline", "width"});
}

// A calibration outlives flushes, new caps, also of another size, and ends with a stop, or when the
// cameras show something else.
TEST(test_life, .unless(unless_built_with_opencv())) {
  Rig rig(calibrating());
  rig.send(turned, 8);
  rig.stereo().flush();
  rig.send(turned, 16);
  fail_unless(rig.last().calibrations >= 1);
  const int count = rig.last().calibrations;
  rig.stereo().accept_gray(160, 120);
  const Picture small = noise_picture(format_named("GRAY8"), 160, 120, 1);
  rig.process(small, shifted(small, 5));
  fail_unless(rig.last().calibrations >= count);
  rig.stereo().accept_gray(160, 100);
  const Picture other = noise_picture(format_named("GRAY8"), 160, 100, 1);
  rig.process(other, shifted(other, 5));
  fail_unless_equals_int(rig.last().calibrations, 0);
  // While a thread is at work.
  rig.stereo().accept_gray(MovingScene::width, MovingScene::height);
  rig.send(turned, 4);
  gst_element_set_state(rig.stereo().element(), GST_STATE_READY);
  gst_element_set_state(rig.stereo().element(), GST_STATE_PLAYING);
  rig.stereo().accept_gray(MovingScene::width, MovingScene::height);
  rig.send({}, 1);
  fail_unless_equals_int(rig.last().calibrations, 0);
}

/* What follows */

// Cameras that turn after they have been calibrated are followed, unless that is switched off.
TEST(test_turns_again, .times(3).unless(unless_built_with_opencv())) {
  const char* drift = (const char*[]){"warn", "correct", "off"}[index];
  Rig rig(calibrating({{"calibration-drift", drift}}));
  const Turn after = {0.6, 0, -0.4, 1.006};
  rig.send(turned, 40);
  const double before = rig.mean_known(5);
  rig.send(after, 30);
  const double known = rig.mean_known(5);
  g_print("%s: %.3f known before a blow, %.3f after it; rows off by %.2f\n", drift, before, known,
          rig.last().rows_off);
  if (index == 2)
    fail_unless(rig.last().rows_off < 0);
  else
    fail_unless(known > before - 0.05 && rig.last().rows_off < 0.3);
  fail_unless_equals_int(rig.stereo().messages().count(GST_MESSAGE_ERROR), 0);
}

/* Lengths */

TEST(test_baseline_is_needed, .unless(unless_built_with_opencv())) {
  expect_words(start_error({{"calibration", "auto"}, {"output", "depth"}}), {"baseline"});
  fail_unless(
      start_error({{"calibration", "auto"}, {"output", "depth"}, {"baseline", "60"}}).empty());
}

// Depths are as long as baseline and focal-length say, before and after the calibration.
TEST(test_lengths, .unless(unless_built_with_opencv())) {
  const MovingScene scene;
  const auto depths = [&](const Properties& lengths, bool live) {
    StereoHarness stereo(
        calibrating({{"output", "depth"}, {"depth-unit", "1"}, lengths[0], lengths[1]}));
    stereo.accept_gray(MovingScene::width, MovingScene::height);
    std::vector<double> medians;
    for (int i = 0; i < 24; ++i) {
      if (live && i == 12)
        stereo.set("baseline", "200");
      const GstClockTime time = static_cast<GstClockTime>(i) * frame_time;
      const Map depth = stereo.process(at(time, to_buffer(scene.left(i))),
                                       at(time, to_buffer(scene.right(i, turned))));
      const Picture map =
          from_buffer(depth, format_named("GRAY16_LE"), MovingScene::width, MovingScene::height);
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
  // The scene's focal length is its width, as is the guess.
  for (std::size_t i = 0; i < guessed.size(); ++i) {
    fail_unless(std::abs(given[i] - guessed[i]) <= 1);
    fail_unless(std::abs(longer[i] - (i < 12 ? 1 : 2) * guessed[i]) <= 2);
  }
  // Half of the wall is nearer than 320·100/9 mm.
  fail_unless(std::abs(guessed.back() - 3300) < 500, "%f", guessed.back());
}

// A known distance finds the yaw, which rows do not show.
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
  // The rectified picture is a little smaller.
  fail_unless(std::abs(found - disparity) < 0.8, "%f instead of %f", found, disparity);
}
