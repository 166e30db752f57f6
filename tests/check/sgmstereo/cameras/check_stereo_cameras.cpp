// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what cudasgmstereo reports about the cameras: exposures, missing texture, pictures that are
// not simultaneous, a camera that sends nothing, implausible lengths and calibrations, and noise.
#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "gst/base/warningtimeout.h"
#include "gst/sgmstereo/pairing/pairingtimeout.h"
#include "tests/check/common/pipelines.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"
#include "tests/check/sgmstereo/wallpairs.h"

using namespace check;
using cudavision::InputTimeout;

namespace {

Picture exposed(const Picture& picture, double factor) {
  return picture_with(*picture.format, picture.width, picture.height, [&](int place, int x, int y) {
    return std::min(255, static_cast<int>(std::lround(factor * picture.sample(place, x, y))));
  });
}

/// Returns the warnings for pairs. The right picture of pair i is shifted down by rows[i].
std::string warnings_for_rows(const std::vector<int>& rows, const Properties& properties = {}) {
  const Pair pair = wall();
  StereoHarness stereo(inspecting(properties));
  stereo.accept_gray(width, height);
  for (std::size_t i = 0; i < rows.size(); ++i)
    send(stereo, {pair.left, moved_down(pair.right, rows[i])}, 1, i * GST_SECOND);
  send_eos(stereo);
  return stereo.messages().text(GST_MESSAGE_WARNING);
}

guint64 frames_in(const Owned<GstElement>& sink) {
  GstStructure* stats = nullptr;
  g_object_get(sink.get(), "stats", &stats, nullptr);
  guint64 rendered = 0;
  gst_structure_get_uint64(stats, "rendered", &rendered);
  gst_structure_free(stats);
  return rendered;
}

Picture with_noise(Picture picture, double levels, unsigned seed) {
  std::uint64_t state = 88172645463325252ull + seed;
  const auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<double>(state >> 11) / static_cast<double>(std::uint64_t{1} << 53);
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = -6;  // plus twelve uniform numbers: mean 0, variance 1
      for (int i = 0; i < 12; ++i)
        sum += next();
      picture.set_sample(
          0, x, y, std::clamp<long>(std::lround(picture.sample(0, x, y) + levels * sum), 0, 255));
    }
  return picture;
}

Pair flat_pair(double noise, unsigned seed) {
  Picture flat = make_picture(gray(), width, height, Content::flat, 1);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      flat.set_sample(0, x, y, 128);
  return {with_noise(flat, noise, seed), with_noise(flat, noise, seed + 1)};
}

struct Noise {
  std::optional<double> measured;
  double used;
};

Noise noise_in(StereoHarness& stereo) {
  const std::vector<Owned<GstMessage>> messages = stereo.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless(!messages.empty());
  const GstStructure* figures = structure_of(messages.back(), "cudasgmstereo");
  Noise noise{std::nullopt, number_in(figures, "noise-used")};
  if (gst_structure_has_field(figures, "noise"))
    noise.measured = number_in(figures, "noise");
  return noise;
}

/// Allows for errors of the noise estimate, which is low in flat pictures.
bool is_near(double number, double expected) {
  return std::abs(number - expected) < 0.25 * expected + 0.05;
}

}  // namespace

TEST(test_unequal_exposures) {
  const Pair pair = wall();
  expect_words(warning_for({pair.left, exposed(pair.right, 0.35)}),
               {"The right picture is far darker", "of 255", "v4l2-ctl"});
  expect_words(warning_for({exposed(pair.left, 0.35), pair.right}),
               {"The left picture is far darker"});
  expect_no_warning({pair.left, exposed(pair.right, 0.8)});
}

// Swapped and unrectified pictures are detected despite unequal exposures.
TEST(test_mistakes_with_unequal_exposures) {
  const Pair pair = wall(), dark = {pair.left, exposed(pair.right, 0.35)};
  struct Mistake {
    Pair pair;
    const char* words;
  };
  for (const Mistake& mistake :
       {Mistake{{dark.right, dark.left}, "exchanged"},
        Mistake{{dark.left, moved_down(dark.right, 5)}, "not rectified"}}) {
    StereoHarness stereo(inspecting());
    stereo.accept_gray(width, height);
    send(stereo, mistake.pair, 2);
    expect_words(stereo.messages().texts(GST_MESSAGE_WARNING), {mistake.words, "darker"});
  }
}

TEST(test_black_and_white) {
  const Pair pair = wall();
  expect_words(warning_for({pair.left, exposed(pair.right, 0.05)}),
               {"The right picture is black", "lens"});
  expect_words(warning_for({exposed(pair.left, 0.05), exposed(pair.right, 0.05)}),
               {"The left and right pictures are black"});
  expect_words(warning_for({exposed(pair.left, 5), exposed(pair.right, 5)}),
               {"The left and right pictures are saturated", "exposure"});
}

TEST(test_without_texture) {
  // A wall in uniform grey, with camera noise.
  const auto even = [](unsigned seed) {
    const Picture noise = noise_picture(gray(), width, height, seed);
    return picture_with(gray(), width, height, [&](int place, int x, int y) {
      return 100 + static_cast<int>(noise.sample(place, x, y)) % 3;
    });
  };
  expect_words(warning_for({even(1), even(2)}),
               {" % of the disparities are known", "because only 0 of ", "texture", "light"});
}

TEST(test_not_simultaneous) {
  for (const std::vector<int>& rows :
       {std::vector{0, 4, -3, 2}, std::vector{3, 0, 3, 0}, std::vector{5, -5, 5}}) {
    const std::string text = warnings_for_rows(rows);
    expect_words(text, {"at the same time", "Trigger both", "set the same framerate. ("});
    fail_unless(text.find("not rectified") == std::string::npos, "%s", text.c_str());
  }
  expect_words(warnings_for_rows({5, -5, 5}, {{"max-skew", "1000000"}}),
               {"set the same framerate and max-skew=-1. ("});
}

// After a knock, the vertical offset persists, so the warning is "not rectified".
TEST(test_knocked_camera) {
  const std::string text = warnings_for_rows({0, 0, 4, 4, 4});
  expect_words(text, {"not rectified"});
  fail_unless(text.find("same time") == std::string::npos, "%s", text.c_str());
  fail_unless(warnings_for_rows({0, 0, 4}).empty());
}

// The timer measures running time if frames have one; otherwise it counts frames.
TEST(test_quiet_times) {
  constexpr cudavision::WarningTimeout patience{GST_SECOND, 3};
  cudavision::ConditionTimer quiet;
  quiet.add(-100);
  quiet.add(GST_SECOND - 101);
  fail_unless(!quiet.must_warn(patience));
  quiet.add(GST_SECOND - 100);
  fail_unless(quiet.must_warn(patience) && quiet.has_warned());
  fail_unless(!quiet.must_warn(patience), "the warning is due only once");
  quiet.add(-200);  // after a flushing seek
  fail_unless(!quiet.exceeds(patience));
  quiet.restart();
  quiet.add(0);
  quiet.add(2 * GST_SECOND);
  fail_unless(quiet.exceeds(patience) && !quiet.must_warn(patience));
  quiet.end();
  for (int frame = 0; frame < 3; ++frame) {
    quiet.add(std::nullopt);
    fail_unless(!quiet.must_warn(patience));
  }
  quiet.add(std::nullopt);
  fail_unless(quiet.must_warn(patience));
}

TEST(test_silence) {
  InputTimeout camera;
  const auto second = static_cast<gint64>(GST_SECOND);
  fail_unless(camera.sends("sink_left").empty());
  fail_unless(camera.missed("sink_left", 5 * second).empty());
  fail_unless(camera.missed("sink_left", 7 * second - 1).empty());
  expect_words(camera.missed("sink_left", 7 * second), {"sink_left", "2 s"});
  fail_unless(camera.missed("sink_left", 9 * second).empty());
  expect_words(camera.sends("sink_left"), {"sink_left", "again, after 4.0 s"});
  fail_unless(camera.sends("sink_left").empty());
  // A new frame or a seek (an earlier time) restarts the timer.
  camera.missed("sink_left", 10 * second);
  camera.sends("sink_left");
  fail_unless(camera.missed("sink_left", 13 * second).empty());
  fail_unless(camera.missed("sink_left", 1 * second).empty());
  fail_unless(camera.missed("sink_left", 2 * second).empty());
  expect_words(camera.missed("sink_left", 3 * second), {"2 s"});
}

// Drops a camera's frames but forwards its caps, without which the latency is not queried again.
TEST(test_silent_camera, .times(2)) {
  const bool from_the_start = index == 0;
  const Owned<GstElement> pipeline = new_pipeline(
      std::string() +
      "videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=32,height=16,framerate=25/1 ! "
      "queue ! e.sink_left videotestsrc is-live=true name=source ! "
      "video/x-raw,format=GRAY8,width=32,height=16,framerate=25/1 ! valve name=valve "
      "drop-mode=forward-sticky-events ! queue ! "
      "e.sink_right cudasgmstereo name=e backend=" +
      std::string(test_backend()) +
      " num-disparities=32 diagnostics-interval=0 ! fakesink "
      "name=sink");
  MessageLog log(pipeline);
  const Owned<GstElement> valve = element_in(pipeline, "valve");
  const Owned<GstElement> sink = element_in(pipeline, "sink");
  g_object_set(valve.get(), "drop", from_the_start, nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  if (!from_the_start) {
    wait_until([&] { return frames_in(sink) >= 10; }, "frames");
    g_object_set(valve.get(), "drop", TRUE, nullptr);
  }
  // A busy machine may delay the sources for seconds, so the test ignores earlier warnings.
  std::string last;
  const auto wait_for_warning = [&](const std::string& words) {
    wait_until(
        [&] {
          std::istringstream lines(log.texts(GST_MESSAGE_WARNING));
          for (std::string line; std::getline(lines, line);)
            if (line.find("sink_right") != line.npos)
              last = line;
          return last.find(words) != last.npos;
        },
        words.c_str());
  };
  wait_for_warning("No frames have arrived on sink_right for 2 s");
  g_object_set(valve.get(), "drop", FALSE, nullptr);
  wait_for_warning("Frames arrive on sink_right again");
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless_equals_int(log.count(GST_MESSAGE_ERROR), 0);
}

TEST(test_baseline_in_metres) {
  const auto with_baseline = [](const char* baseline) {
    return Properties{{"focal-length", "300"}, {"baseline", baseline}};
  };
  expect_words(warning_for(wall(), with_baseline("0.12")),
               {"baseline=0.12 ", "in metres", "set baseline=120."});
  expect_words(warning_for(wall(), with_baseline("0.0125")),
               {"baseline=0.0125 ", "set baseline=12.5."});
  expect_words(warning_for(wall(), with_baseline("0.0004")),
               {"baseline=0.0004 ", "set baseline=0.4."});
  expect_no_warning(wall(), with_baseline("1"));
  expect_no_warning(wall(), with_baseline("120"));
}

TEST(test_lengths_and_calibration, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, {20});
  const auto warning_with = [&](const Properties& lengths) {
    return warning_for({photographs.left, photographs.right}, joined({file.property()}, lengths));
  };
  fail_unless(warning_with({}).empty());
  fail_unless(warning_with({{"focal-length", "262"}, {"baseline", "91"}}).empty());
  expect_words(warning_with({{"focal-length", "280"}}),
               {"focal-length=280, but the calibration gives 260 pixels for the rectified "
                "pictures: set focal-length=0 to use the calibration, or calibrate again. ("});
  expect_words(warning_with({{"focal-length", "280"}, {"baseline", "92.125"}}),
               {"focal-length=280, ",
                "again. baseline=92.125, but the calibration gives 90 mm: "
                "set baseline=0 to use the calibration"});
  const auto warning_of = [&](const CalibrationFile& implausible) {
    StereoHarness stereo(inspecting({implausible.property()}));
    stereo.accept_gray(camera_width, camera_height);
    send(stereo, {photographs.left, photographs.right}, 1);
    return stereo.messages().text(GST_MESSAGE_WARNING);
  };
  expect_words(warning_of(CalibrationFile(false, "unit: mm\n", 25)),
               {"view of 162° for pictures 320 pixels wide. The calibration gives this value"});
  expect_words(warning_of(CalibrationFile(false, "unit: mm\n", rectified_focal_length, 0.12)),
               {"baseline=0.12 means", "The calibration gives this value: correct its unit"});
}

TEST(test_calibration_that_does_not_fit, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, {20});
  const Picture up = moved_down(photographs.right, -6), down = moved_down(photographs.right, 6);
  // A rotation cannot correct these rows.
  const Picture right = picture_with(gray(), up.width, up.height, [&](int place, int x, int y) {
    return (x / 80 % 2 ? up : down).sample(place, x, y);
  });
  for (const bool corrected : {false, true}) {
    const std::string text =
        warning_for({photographs.left, right},
                    {file.property(), {"calibration-drift", corrected ? "correct" : "warn"}});
    expect_words(text, {"calibration does not fit the cameras: calibrate them again"});
    fail_unless_equals_int(text.find("calibration-drift") == std::string::npos, corrected);
  }
}

TEST(test_calibration_with_a_large_error, .unless(unless_built_with_opencv())) {
  for (const auto& [error, warns] : {std::pair{"0.3", false}, std::pair{"1.004", true}}) {
    const CalibrationFile file(false, std::string("unit: mm\nreprojection_error: ") + error + "\n");
    StereoHarness stereo(Properties{file.property()});
    const std::string text = stereo.messages().text(GST_MESSAGE_WARNING);
    fail_unless(text.empty() != warns, "%s: %s", error, text.c_str());
    if (warns)
      expect_words(text, {"1.004 pixels", "calibrate again"});
  }
}

TEST(test_noise_is_measured) {
  for (const double levels : {0.0, 4.0, 8.0}) {
    StereoHarness stereo(inspecting());
    stereo.accept_gray(width, height);
    send(stereo, flat_pair(levels, 5), 1);
    const Noise noise = noise_in(stereo);
    fail_unless(noise.measured && is_near(*noise.measured, levels), "%f instead of %f",
                noise.measured.value_or(-1), levels);
    fail_unless(is_near(noise.used, levels), "%f instead of %f", noise.used, levels);
  }
}

TEST(test_noise_that_is_set) {
  for (const char* value : {"0", "4.5"}) {
    StereoHarness stereo(inspecting({{"noise", value}}));
    stereo.accept_gray(width, height);
    send(stereo, flat_pair(8, 5), 1);
    const Noise noise = noise_in(stereo);
    fail_unless(!noise.measured);
    fail_unless(noise.used == g_ascii_strtod(value, nullptr));
  }
  StereoHarness stereo(inspecting({{"noise", "4.5"}, {"census", "neighbours-5x5"}}));
  stereo.accept_gray(width, height);
  send(stereo, flat_pair(8, 5), 1);
  fail_unless(noise_in(stereo).used == 0);
}

// The noise in use adapts slowly to a much noisier pair, but immediately after a flush.
TEST(test_noise_over_time_and_after_a_flush) {
  StereoHarness stereo(inspecting());
  stereo.accept_gray(width, height);
  send(stereo, flat_pair(4, 5), 1);
  const double first = noise_in(stereo).used;
  fail_unless(is_near(first, 4));
  send(stereo, flat_pair(8, 6), 1, GST_SECOND);
  const Noise noise = noise_in(stereo);
  fail_unless(noise.measured && is_near(*noise.measured, 8));
  fail_unless(noise.used > first && noise.used < 6, "%f", noise.used);
  stereo.flush();
  send(stereo, flat_pair(8, 7), 1);
  fail_unless(is_near(noise_in(stereo).used, 8));
}
