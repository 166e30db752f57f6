// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the element message of cudasgmstereo and its warnings, which good pairs must not cause.
#include <locale.h>

#include <clocale>
#include <cmath>
#include <filesystem>

#include "tests/check/common/messagelog.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pipelines.h"
#include "tests/check/common/stereoharness.h"
#include "tests/check/common/streams/padsharness.h"
#include "tests/check/sgmstereo/wallpairs.h"

using namespace check;

namespace {

const GstStructure* figures_in(GstMessage* message) {
  return structure_of(message, "cudasgmstereo");
}

std::vector<guint64> message_times(StereoHarness& stereo) {
  std::vector<guint64> times;
  for (const Owned<GstMessage>& message : stereo.messages().take(GST_MESSAGE_ELEMENT))
    times.push_back(time_in(figures_in(message), "timestamp"));
  return times;
}

constexpr char language_with_commas[] = "de_DE.UTF-8";

// Returns the locale, which stays loaded, or nullptr if it is not installed.
locale_t load_language_with_commas() {
  return newlocale(LC_NUMERIC_MASK, language_with_commas, nullptr);
}

// If the locale is not installed, localedef may still be able to compile it.
locale_t make_language_with_commas() {
  const Owned<gchar> folder(g_dir_make_tmp("cudavision-languages-XXXXXX", nullptr));
  const std::string path = folder.get();
  const std::string command =
      "localedef -i de_DE -f UTF-8 " + path + "/" + std::string(language_with_commas);
  g_spawn_command_line_sync(command.c_str(), nullptr, nullptr, nullptr, nullptr);
  g_setenv("LOCPATH", path.c_str(), TRUE);
  const locale_t language = load_language_with_commas();
  std::filesystem::remove_all(path);
  return language;
}

std::string unless_commas() {
  static const bool there = load_language_with_commas() || make_language_with_commas();
  return there ? "" : "no locale with decimal commas is installed";
}

/// Returns the warnings for cameras at 25 frames per second whose times differ by `apart`.
std::string pairing_warning(const char* max_skew, GstClockTime apart, int count) {
  StereoHarness stereo(Properties{{"max-skew", max_skew}});
  stereo.run(frames_from(GST_SECOND, count), frames_from(GST_SECOND + apart, count));
  fail_unless(stereo.messages().complaints() <= 1);
  return stereo.messages().text(GST_MESSAGE_WARNING);
}

std::string unless_slow() {
#if defined(CUDAVISION_TEST_SANITIZED) || defined(__SANITIZE_THREAD__)
  return "a sanitizer makes this too slow";
#else
  return "";
#endif
}

std::string warnings_for(const std::string& left, const std::string& right,
                         const std::string& decoder, int disparities) {
  const auto branch = [&](const std::string& file, const char* pad) {
    return " filesrc location=" + file + " ! " + decoder + " ! videoconvert ! queue ! e." + pad;
  };
  const Owned<GstElement> pipeline =
      new_pipeline(std::string("cudasgmstereo name=e backend=") + test_backend() +
                   " num-disparities=" + std::to_string(disparities) + " ! fakesink " +
                   branch(left, "sink_left") + branch(right, "sink_right"));
  MessageLog log(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  wait_until([&] { return log.count(GST_MESSAGE_EOS) > 0 || log.count(GST_MESSAGE_ERROR) > 0; },
             "EOS");
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless_equals_int(log.count(GST_MESSAGE_ERROR), 0);
  fail_unless_equals_int(log.count(GST_MESSAGE_ELEMENT), 1);
  return log.text(GST_MESSAGE_WARNING);
}

}  // namespace

TEST(test_figures) {
  for (const char* format : {"GRAY8", "I420", "P010_10LE", "RGB", "GRAY16_LE"})
    for (const char* output : {"disparity", "confidence"})
      for (const char* fill : {"false", "true"}) {
        StereoHarness stereo(inspecting({{"output", output}, {"fill-holes", fill}}));
        const Pair pair = wall(format_named(format));
        stereo.accept_caps(caps_of(*pair.left.format, width, height));
        GstSegment segment = new_segment();
        segment.start = segment.position = GST_SECOND;
        segment.base = 2 * GST_SECOND;
        segment.time = 3 * GST_SECOND;
        stereo.send_to_all([&] { return gst_event_new_segment(&segment); });
        send(stereo, pair, 1, 5 * GST_SECOND);
        const std::vector<Owned<GstMessage>> messages = stereo.messages().take(GST_MESSAGE_ELEMENT);
        fail_unless_equals_int(messages.size(), 1);
        const GstStructure* figures = figures_in(messages[0]);
        fail_unless_equals_uint64(time_in(figures, "timestamp"), 5 * GST_SECOND);
        fail_unless_equals_uint64(time_in(figures, "running-time"), 6 * GST_SECOND);
        fail_unless_equals_uint64(time_in(figures, "stream-time"), 7 * GST_SECOND);
        fail_unless_equals_uint64(time_in(figures, "duration"), 40 * ms);
        guint blocks = 0;
        fail_unless(gst_structure_get_uint(figures, "blocks", &blocks) && blocks >= 50,
                    "%s: %u blocks", format, blocks);
        const double known = number_in(figures, "known");
        fail_unless(known > 0.8 && known < 0.97, "%s: %f of the disparities are valid", format,
                    known);
        fail_unless(number_in(figures, "at-range-end") < 0.01);
        fail_unless(number_in(figures, "agreement") > 0.9);
        fail_unless(number_in(figures, "matched") > 0.9);
        fail_unless(std::abs(number_in(figures, "vertical-offset")) < 0.1);
        fail_unless(number_in(figures, "vertical-spread") < 0.2);
        fail_unless(!gst_structure_has_field(figures, "saturated"));
      }
}

// One message per diagnostics-interval (by default 1 s of running time), from the first pair on.
TEST(test_interval) {
  struct Case {
    const char* interval;
    std::vector<guint64> times;
  };
  for (const Case& c : {Case{"1000000000", {0, 1000 * ms, 2000 * ms}}, Case{"0", {}},
                        Case{"400000000", {0, 400 * ms, 800 * ms, 1200 * ms, 1600 * ms, 2000 * ms}},
                        Case{"1500000000", {0, 1600 * ms}}}) {
    StereoHarness stereo(Properties{{"diagnostics-interval", c.interval}});
    stereo.accept_gray();
    for (guint i = 0; i <= 10; ++i)
      stereo.process_at(i * 200 * ms);
    fail_unless(message_times(stereo) == c.times, "interval %s", c.interval);
  }
  const Owned<GstElement> element = new_element("cudasgmstereo");
  guint64 interval = 0;
  g_object_get(element.get(), "diagnostics-interval", &interval, nullptr);
  fail_unless_equals_uint64(interval, GST_SECOND);
}

TEST(test_flat_pictures_have_no_vertical_offset) {
  StereoHarness stereo(inspecting());
  const Picture flat = make_picture(gray(), width, height, Content::flat, 1);
  stereo.accept_gray(width, height);
  send(stereo, {flat, flat}, 1);
  const std::vector<Owned<GstMessage>> messages = stereo.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), 1);
  const GstStructure* figures = figures_in(messages[0]);
  fail_unless(!gst_structure_has_field(figures, "vertical-offset"));
  fail_unless(!gst_structure_has_field(figures, "vertical-spread"));
}

// diagnostics-interval can change while playing. A flush restarts the interval.
TEST(test_interval_while_playing) {
  PlayingStereo stereo(inspecting());
  stereo.process_at(500 * ms);
  stereo.set("diagnostics-interval", "500000000");
  stereo.process_at(540 * ms);
  stereo.process_at(580 * ms);
  stereo.flush();
  stereo.process_at(0);
  stereo.process_at(40 * ms);
  stereo.set("diagnostics-interval", "0");
  stereo.process_at(3000 * ms);
  fail_unless((message_times(stereo) == std::vector<guint64>{0, 540 * ms, 0}));
}

// If pairs have no running times, every 30th pair is inspected.
TEST(test_without_times) {
  StereoHarness stereo(inspecting());
  stereo.accept_gray();
  for (int i = 0; i < 61; ++i)
    stereo.process(small_frame({}), small_frame({}));
  fail_unless_equals_int(message_times(stereo).size(), 3);
}

TEST(test_packed_frames) {
  StereoHarness stereo(inspecting({{"frame-packing", "side-by-side"}}), false);
  const Pair pair = wall();
  const Picture both = packed(pair.right, pair.left, true);
  stereo.accept_gray(2 * width, height);
  for (GstClockTime time : {0 * ms, 1000 * ms})
    stereo.process(at(time, to_buffer(both)), nullptr);
  fail_unless_equals_int(message_times(stereo).size(), 2);
  expect_words(stereo.messages().text(GST_MESSAGE_WARNING), {"exchanged", "right-view-first"});
}

TEST(test_good_pairs) {
  for (const char* format : {"GRAY8", "YUY2", "I420_10LE", "BGRx"})
    expect_no_warning(wall(format_named(format)));
  expect_no_warning(wall(), {{"num-disparities", "320"}});
  expect_no_warning(
      wall(),
      {{"output", "depth"}, {"focal-length", "300"}, {"baseline", "100"}, {"fill-holes", "true"}});
}

TEST(test_swapped) {
  const Pair pair = wall();
  for (const char* minimum : {"0", "-4"}) {
    const std::string text = warning_for({pair.right, pair.left}, {{"min-disparity", minimum}});
    expect_words(text, {"exchanged", "sink_left", "sink_right"});
    fail_unless(text.find("min-disparity") == std::string::npos, "%s", text.c_str());
  }
  const Picture left = noise_picture(gray(), width, height, 1);
  expect_words(warning_for({shifted(left, 10), left}, {{"min-disparity", "16"}}),
               {"are not positive (from -10 to -10 pixels)", "exchanged", "sink_left"});
}

TEST(test_not_rectified) {
  const Pair pair = wall();
  for (int rows : {-20, -5, 1, 2, 5}) {
    const std::string text = warning_for({pair.left, moved_down(pair.right, rows)});
    expect_words(text, {"not rectified", std::to_string(std::abs(rows)) + ".0 rows ",
                        rows < 0 ? "higher" : "lower", "Calibrate"});
  }
}

TEST(test_few_disparities) {
  const Picture left = noise_picture(gray(), width, height, 1);
  expect_words(warning_for({left, shifted(left, 50)}),
               {"from 50 to 50 pixels", "from 0 to 31 pixels", "set num-disparities=64."});
  expect_words(
      warning_for({left, shifted(left, 50)}, {{"min-disparity", "60"}}),
      {"from 50 to 50 pixels", "from 60 to 91 pixels", "set min-disparity=42 num-disparities=64."});
  // Near 0, the proposed range has no negative disparities.
  expect_words(warning_for({left, shifted(left, 3)}, {{"min-disparity", "10"}}),
               {"from 3 to 3 pixels", "set min-disparity=0 num-disparities=64."});
  const Picture wide = noise_picture(gray(), 1280, 120, 1);
  expect_words(warning_for({wide, shifted(wide, 10)},
                           {{"min-disparity", "40"}, {"num-disparities", "1024"}}),
               {"from 10 to 10 pixels", "set min-disparity=2 num-disparities=1024."});
}

// No range of 1024 disparities has all points.
TEST(test_too_many_disparities) {
  const Picture left = noise_picture(gray(), 1600, 64, 1);
  const Picture near = shifted(left, 1040), far = shifted(left, 10);
  const Picture right = picture_with(gray(), 1600, 64, [&](int place, int x, int y) {
    return (y < 32 ? near : far).sample(place, x, y);
  });
  expect_words(
      warning_for({left, right}, {{"min-disparity", "100"}, {"num-disparities", "992"}}),
      {"from 10 to 1040 pixels", "scale both pictures down", "cannot search from 2 to 1048"});
}

// The cameras see different scenes.
TEST(test_nothing_in_common) {
  const Picture left = noise_picture(gray(), width, height, 1);
  const Picture right = noise_picture(gray(), width, height, 2);
  expect_words(warning_for({left, right}), {"Hardly anything", " % of the disparities are known",
                                            "same scene", "calibrate the cameras"});
}

// A quarter of the disparities is at the end of the range. Only the map shows this.
TEST(test_map_at_its_end) {
  const Picture left = noise_picture(gray(), width, height, 1);
  const Picture near = shifted(left, 31), far = shifted(left, 5);
  const Picture right = picture_with(gray(), width, height, [&](int place, int x, int y) {
    return y < height / 4 ? near.sample(place, x, y) : far.sample(place, x, y);
  });
  expect_words(warning_for({left, right}), {"at the upper end", "set num-disparities=64."});
}

TEST(test_more_disparities_than_columns) {
  expect_words(warning_for(wall(), {{"num-disparities", "352"}}),
               {"num-disparities=352", "320 pixels wide", "set num-disparities=320 "});
  expect_words(warning_for(wall(), {{"num-disparities", "320"}, {"min-disparity", "10"}}),
               {"up to 329", "set num-disparities=288 "});
}

TEST(test_focal_length_in_millimetres) {
  const Properties depth = {{"output", "depth"}, {"baseline", "1"}, {"depth-unit", "0.01"}};
  Properties small = depth, large = depth;
  small.push_back({"focal-length", "4"});
  large.push_back({"focal-length", "40"});
  expect_words(warning_for(wall(), small), {"focal-length=4", "in mm", "by 320"});
  expect_no_warning(wall(), large);
}

TEST(test_saturated_depth) {
  // 12 pixels of disparity correspond to 100 m.
  const Properties far = {{"output", "depth"}, {"focal-length", "1000"}, {"baseline", "1200"}};
  const std::string text = warning_for(wall(), far);
  expect_words(text, {"65.5 m", "depth-unit=1.000", "set depth-unit=2."});
  expect_no_warning(wall(), joined(far, {{"depth-unit", "2"}}));
  Properties not_depth = far;
  not_depth[0].second = "disparity";
  expect_no_warning(wall(), not_depth);

  StereoHarness stereo(inspecting(far));
  stereo.accept_gray(width, height);
  send(stereo, wall(), 1);
  const std::vector<Owned<GstMessage>> messages = stereo.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), 1);
  fail_unless(number_in(figures_in(messages[0]), "saturated") > 0.95);
}

// Messages use a decimal point in every language, so that their numbers can be set as properties.
TEST(test_decimal_point_in_other_languages, .unless(unless_commas())) {
  fail_unless(std::setlocale(LC_NUMERIC, language_with_commas) != nullptr);
  expect_words(warning_for(wall(), {{"output", "depth"},
                                    {"focal-length", "1000"},
                                    {"baseline", "1.2"},
                                    {"depth-unit", "0.001"}}),
               {"0.1 m", "depth-unit=0.001", "set depth-unit=0.002."});
  std::setlocale(LC_NUMERIC, "C");
}

TEST(test_saturated_depth_on_request) {
  PadsHarness stereo(inspecting({{"focal-length", "1000"}, {"baseline", "1200"}}));
  stereo.open("depth");
  stereo.accept_gray(width, height);
  send(stereo, wall(), 2);
  expect_words(stereo.messages().text(GST_MESSAGE_WARNING), {"65.5 m", "set depth-unit=2."});
}

// A single bad pair among good pairs causes no warning, but a stream's only pair does.
TEST(test_confirmation) {
  const Pair good = wall(), bad = {good.right, good.left};
  StereoHarness stereo(inspecting());
  stereo.accept_gray(width, height);
  send(stereo, good, 1);
  send(stereo, bad, 1, GST_SECOND);
  send(stereo, good, 1, 2 * GST_SECOND);
  send(stereo, bad, 1, 3 * GST_SECOND);
  send_eos(stereo);
  fail_unless_equals_int(stereo.messages().complaints(), 0);

  StereoHarness photographs(inspecting());
  photographs.accept_gray(width, height);
  send(photographs, bad, 1);
  fail_unless_equals_int(photographs.messages().complaints(), 0);
  send_eos(photographs);
  photographs.messages().expect_one(GST_MESSAGE_WARNING, {"exchanged"});
}

TEST(test_restart) {
  const Pair good = wall();
  StereoHarness stereo(inspecting());
  for (int i = 1; i <= 2; ++i) {
    stereo.accept_gray(width, height);
    send(stereo, {good.right, good.left}, 3);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_WARNING), i);
    stereo.restart();
  }
}

TEST(test_small_max_skew) {
  for (GstClockTime apart : {15 * ms, 975 * ms})
    expect_words(pairing_warning("10000000", apart, 100),
                 {"max-skew allows 10 ms", "15 ms apart", "set max-skew=16000000 "});
  expect_words(pairing_warning("0", 30000, 100),
               {"max-skew allows 0 ms", "0.03 ms apart", "set max-skew=1000000 "});
  expect_words(pairing_warning("16666666", 16666667, 100),
               {"max-skew allows 16.666666 ms", "16.666667 ms apart", "set max-skew=17000000 "});
  // No warning: less than 2 s of frames, a camera that starts late, and frames within max-skew.
  fail_unless(pairing_warning("10000000", 15 * ms, 48).empty());
  fail_unless(pairing_warning("10000000", 3000 * ms, 100).empty());
  fail_unless(pairing_warning("15000000", 15 * ms, 100).empty());
}

// A pair within max-skew restarts the 2 s that must pass before the warning.
TEST(test_small_max_skew_again) {
  StereoFrames left = frames_from(0, 150), right = frames_from(15 * ms, 150);
  for (std::size_t i = 0; i < right.size(); i += 40)
    right[i] = left[i];
  StereoHarness stereo(Properties{{"max-skew", "10000000"}});
  fail_unless_equals_int(stereo.run(left, right).size(), 4);
  fail_unless_equals_int(stereo.messages().complaints(), 0);
}

// RealPairs of tests/rig inspects more photographs.
TEST(test_photographs,
     .unless(unless_slow().empty() ? unless_pictures({"aloeL.jpg", "aloeR.jpg"}) : unless_slow())) {
  const std::string left = picture_file("aloeL.jpg"), right = picture_file("aloeR.jpg");
  const std::string text = warnings_for(left, right, "jpegdec", 256);
  fail_unless(text.empty(), "%s", text.c_str());
  expect_words(warnings_for(right, left, "jpegdec", 256), {"exchanged"});
}
