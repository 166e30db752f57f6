// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests smoothing-time and scene-cut-threshold of cudahistequalize: the times between frames, what
// begins a new average, and the messages about scene cuts.
#include <algorithm>

#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/histogrammessage.h"

using namespace check;

namespace {

constexpr double frame_time = 40 * GST_MSECOND;
const Property one_second = {"smoothing-time", "1000000000"};
const Property no_cuts = {"scene-cut-threshold", "1"};

Picture brighter(const Picture& picture, int by) {
  Picture result = picture;
  const int maximum = picture.format->peak();
  for (int place = 0; place < static_cast<int>(picture.format->places.size()); ++place)
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x)
        result.set_sample(place, x, y, std::clamp(picture.sample(place, x, y) + by, 0, maximum));
  return result;
}

Picture natural(const FormatSpec& format, int width, int height, unsigned seed = 1) {
  return make_picture(format, width, height, Content::natural, seed);
}

Picture other(const FormatSpec& format, int width, int height) {
  return make_picture(format, width, height, Content::ramp, 2);
}

/// Few tiles, because the definition is slow with many.
Equalization with_method(bool adaptive) {
  Equalization how;
  how.adaptive = adaptive;
  how.tiles_x = 3;
  how.tiles_y = 2;
  return how;
}

class SmoothedVideo {
 public:
  explicit SmoothedVideo(const Equalization& how = {})
      : filter_("cudahistequalize", how.tile_properties()), how_(how) {
    filter_.set(one_second);
    filter_.set(no_cuts);
    filter_.set(how.properties());
    filter_.accept_caps(gray(), width, height, colorimetry(gray(), false));
  }

  static constexpr int width = 64, height = 48;

  FilterHarness& filter() { return filter_; }

  void change(const Equalization& how) {
    how_ = how;
    filter_.set(how.properties());
  }

  void expect(const Picture& picture, GstClockTime pts, double elapsed, const char* what,
              GstClockTime duration = GST_CLOCK_TIME_NONE) {
    filter_.expect(at(pts, to_buffer(picture), duration),
                   definition_.next(picture, how_, elapsed, 1e9, 1), what);
  }

  /// Expects that the frame begins a new average. Fails if the old average would look the same.
  void expect_new_average(const Picture& picture, GstClockTime pts, const char* what) {
    SmoothedEqualization going_on = definition_;
    const Picture expected = equalized(picture, how_);
    fail_if(difference(going_on.next(picture, how_, frame_time, 1e9, 1), expected).empty(),
            "%s: this picture cannot show a new average", what);
    definition_.restart();
    expect(picture, pts, 0, what);
  }

 private:
  FilterHarness filter_;
  SmoothedEqualization definition_;
  Equalization how_;
};

Picture dark() {
  return natural(gray(), SmoothedVideo::width, SmoothedVideo::height);
}
Picture bright() {
  return brighter(dark(), 60);
}

std::vector<bool> take_cuts(FilterHarness& filter) {
  std::vector<bool> cuts;
  for (const Owned<GstMessage>& message : filter.messages().take(GST_MESSAGE_ELEMENT)) {
    gboolean cut = FALSE;
    fail_unless(gst_structure_get_boolean(structure_of(message), "scene-cut", &cut));
    cuts.push_back(cut);
  }
  return cuts;
}

void push_scenes(FilterHarness& filter, const std::string& scenes) {
  for (std::size_t i = 0; i < scenes.size(); ++i)
    push_frame(filter, scenes[i] == 'a' ? natural(gray(), 64, 48) : other(gray(), 64, 48),
               i * 40 * GST_MSECOND);
}

FilterHarness& with_caps(FilterHarness& filter) {
  filter.accept_caps(gray(), 64, 48, colorimetry(gray(), false));
  return filter;
}

}  // namespace

// A frame's weight depends on the running time since the previous frame.
TEST(test_times) {
  SmoothedVideo video;
  const GstClockTime ms = GST_MSECOND;
  video.expect(dark(), 0, 0, "the first frame");
  video.expect(bright(), 40 * ms, 40e6, "40 ms");
  video.expect(bright(), 60 * ms, 20e6, "20 ms");
  video.expect(bright(), 900 * ms, 840e6, "after dropped frames");
  video.expect(dark(), 900 * ms, 0, "the same time again");
  video.expect(dark(), 800 * ms, 0, "time runs backwards");
  video.expect(dark(), 850 * ms, 50e6, "and on from there");
  video.expect(bright(), GST_CLOCK_TIME_NONE, 70e6, "a duration instead of a time", 70 * ms);
  video.expect(bright(), GST_CLOCK_TIME_NONE, 40e6, "neither: 25 frames per second in the caps");
  video.expect(bright(), 2000 * ms, 30e6, "the frame before has no time", 30 * ms);
  video.expect(bright(), 2100 * ms, 100e6, "times again", 30 * ms);
}

TEST(test_frames_without_times_and_framerate) {
  FilterHarness filter("cudahistequalize", {one_second, no_cuts});
  fail_unless(filter.send_caps("video/x-raw,format=GRAY8,width=64,height=48,framerate=0/1," +
                               colorimetry(gray(), false).substr(1)));
  SmoothedEqualization definition;
  for (int frame = 0; frame < 4; ++frame) {
    const Picture picture = frame == 0 ? dark() : bright();
    filter.expect(to_buffer(picture), definition.next(picture, {}, 40e6, 1e9, 1), "40 ms each");
  }
}

TEST(test_rate) {
  SmoothedVideo video;
  GstSegment segment = new_segment();
  segment.rate = 2.0;
  video.filter().send_segment(segment);
  video.expect(dark(), 0, 0, "the first frame");
  video.expect(bright(), 80 * GST_MSECOND, 40e6, "twice as fast");
}

TEST(test_new_averages, .times(2)) {
  const Equalization how = with_method(index == 1);
  SmoothedVideo video(how);
  GstClockTime time = 0;
  const auto next = [&] { return time += 40 * GST_MSECOND; };
  const auto fill = [&] {
    for (int i = 0; i < 3; ++i)
      video.expect(dark(), next(), frame_time, "before");
  };
  fill();
  video.filter().flush();
  video.filter().send_segment(new_segment());
  video.expect_new_average(bright(), next(), "a flush");
  fill();
  GstSegment segment = new_segment();
  segment.base = 3;
  video.filter().send_segment(segment);
  video.expect_new_average(bright(), next(), "a segment");
  fill();
  video.filter().accept_caps(gray(), SmoothedVideo::width, SmoothedVideo::height,
                             colorimetry(gray(), false) + ",pixel-aspect-ratio=2/1");
  video.expect_new_average(bright(), next(), "caps");
  fill();
  video.filter().set("smoothing-time", "0");
  video.filter().expect(at(next(), to_buffer(bright())), equalized(bright(), how), "off");
  video.filter().set(one_second);
  video.expect_new_average(bright(), next(), "switched on again");
}

// The operation has no memory for averages until smoothing is switched on.
TEST(test_switched_on_while_playing, .times(2)) {
  const Equalization how = with_method(index == 1);
  FilterHarness filter("cudahistequalize", how.tile_properties());
  filter.set(how.properties());
  filter.set(no_cuts);
  filter.accept_caps(gray(), 64, 48, colorimetry(gray(), false));
  SmoothedEqualization definition;
  GstClockTime time = 0;
  const auto expect = [&](const Picture& picture, const Picture& expected, const char* what) {
    filter.expect(at(time += 40 * GST_MSECOND, to_buffer(picture)), expected, what);
  };
  expect(dark(), equalized(dark(), how), "off");
  filter.set(one_second);
  expect(dark(), definition.next(dark(), how, 0, 1e9, 1), "switched on");
  expect(bright(), definition.next(bright(), how, frame_time, 1e9, 1), "and on from there");
  filter.set("smoothing-time", "0");
  expect(bright(), equalized(bright(), how), "off again");
}

// A change of the smoothing time keeps the average.
TEST(test_changed_while_playing) {
  FilterHarness filter("cudahistequalize", {one_second, no_cuts});
  filter.accept_caps(gray(), 64, 48, colorimetry(gray(), false));
  SmoothedEqualization definition;
  const double times[] = {1e9, 1e9, 2e8, 1e6, 1e15, 3e9};
  for (std::size_t i = 0; i < std::size(times); ++i) {
    filter.set("smoothing-time", std::to_string(static_cast<guint64>(times[i])));
    const Picture picture = i % 2 ? bright() : dark();
    filter.expect(at(i * 40 * GST_MSECOND, to_buffer(picture)),
                  definition.next(picture, {}, frame_time, times[i], 1), text_of(times[i]));
  }
  filter.set("scene-cut-threshold", "0.25");
  filter.expect(at(GST_SECOND, to_buffer(dark())), equalized(dark(), {}), "a scene cut");
}

TEST(test_method_changed_while_playing) {
  SmoothedVideo video(with_method(false));
  GstClockTime time = 0;
  const auto next = [&] { return time += 40 * GST_MSECOND; };
  for (const bool adaptive : {false, true, false, true}) {
    video.change(with_method(adaptive));
    video.expect(bright(), next(), frame_time, "another method");
    for (int i = 0; i < 3; ++i)
      video.expect(dark(), next(), frame_time, "and on from there");
  }
}

// A change of the clip limit makes new tables from the same average.
TEST(test_clip_limit_changed_while_playing) {
  Equalization how = with_method(true);
  SmoothedVideo video(how);
  GstClockTime time = 0;
  for (const double limit : {2.0, 2.0, 10.0, 0.0, 1.0}) {
    how.clip_limit = limit;
    video.change(how);
    video.expect(limit == 2 ? bright() : dark(), time += 40 * GST_MSECOND, frame_time,
                 "a clip limit");
  }
}

TEST(test_impossible_threshold) {
  FilterHarness filter("cudahistequalize", {one_second, no_cuts});
  filter.accept_caps(gray(), 64, 48, colorimetry(gray(), false));
  SmoothedEqualization definition;
  for (guint i = 0; i < 4; ++i) {
    if (i == 1)
      filter.set("scene-cut-threshold", "-0.5");
    const Picture picture = i % 2 ? other(gray(), 64, 48) : dark();
    filter.expect(at(i * 40 * GST_MSECOND, to_buffer(picture)),
                  definition.next(picture, {}, frame_time, 1e9, 1), "the last valid threshold");
  }
  filter.messages().expect_one(GST_MESSAGE_WARNING, {"scene-cut-threshold=-0.5", "0 to 1"});
}

// With strength=0, frames pass unchanged and do not enter the average.
TEST(test_paused_by_strength) {
  SmoothedVideo video;
  video.expect(dark(), 0, 0, "the first frame");
  video.filter().set("strength", "0");
  video.filter().expect(at(40 * GST_MSECOND, to_buffer(bright())), bright(), "passes");
  video.filter().set("strength", "1");
  video.expect(bright(), 80 * GST_MSECOND, 80e6, "since the last smoothed frame");
}

TEST(test_cuts_in_messages, .times(2)) {
  FilterHarness filter{{"post-messages", "true"}, one_second};
  filter.set(with_method(index == 1).properties());
  push_scenes(with_caps(filter), "aaabbab");
  filter.send_eos();
  fail_unless(
      (take_cuts(filter) == std::vector<bool>{false, false, false, true, false, true, true}));
}

TEST(test_no_cuts_in_messages_without_smoothing) {
  FilterHarness filter{{"post-messages", "true"}};
  push_scenes(with_caps(filter), "aabb");
  filter.send_eos();
  fail_unless((take_cuts(filter) == std::vector<bool>(4, false)));
}

// If a frame with a scene cut has no message of its own, the next message reports the cut.
TEST(test_cuts_between_messages) {
  FilterHarness filter{{"post-messages", "true"}, {"message-interval", "160000000"}, one_second};
  push_scenes(with_caps(filter),
              "aaaa"
              "aabb"
              "bbbb"
              "abbb"
              "bb");
  filter.send_eos();
  fail_unless((take_cuts(filter) == std::vector<bool>{false, false, true, true, true}));
}

// Scene cuts of one method's average are not reported for the other method.
TEST(test_cuts_in_messages_of_both_methods) {
  FilterHarness filter{{"post-messages", "true"}, one_second};
  with_caps(filter);
  push_scenes(filter, "ab");
  filter.set("method", "clahe");
  push_scenes(filter, "aa");
  filter.set("method", "equalize");
  push_scenes(filter, "aab");
  filter.send_eos();
  fail_unless(
      (take_cuts(filter) == std::vector<bool>{false, true, false, false, false, false, true}));
}

TEST(test_cuts_before_a_flush_are_forgotten) {
  FilterHarness filter{{"post-messages", "true"}, {"message-interval", "160000000"}, one_second};
  push_scenes(with_caps(filter), "aab");
  filter.flush();
  filter.messages().clear();
  filter.send_segment(new_segment());
  push_scenes(filter, "bbbbbabbb");
  filter.send_eos();
  fail_unless((take_cuts(filter) == std::vector<bool>{false, false, true}));
}

// A mirror image keeps the histogram but changes the areas: a cut, unless the threshold is 1.
TEST(test_cut_to_a_mirror_image, .times(4)) {
  const bool cuts = index % 2 == 0;
  const Equalization how = with_method(index / 2 == 1);
  FilterHarness filter("cudahistequalize", how.tile_properties());
  filter.set(one_second);
  filter.set("post-messages", "true");
  filter.set("scene-cut-threshold", cuts ? "0.25" : "1");
  filter.set(how.properties());
  with_caps(filter);
  SmoothedEqualization definition;
  const auto ramp = [](bool mirrored) {
    return picture_with(gray(), 64, 48, [&](int, int x, int y) {
      const int from = mirrored ? 63 - x : x;
      return 40 + 2 * from + from * y / 64;
    });
  };
  for (guint i = 0; i < 6; ++i) {
    const Picture picture = ramp(i >= 3);
    const Picture expected = definition.next(picture, how, frame_time, 1e9, cuts ? 0.25 : 1);
    if (cuts)
      expect_picture(expected, equalized(picture, how), "a still scene");
    filter.expect(at(i * 40 * GST_MSECOND, to_buffer(picture)), expected,
                  "frame " + std::to_string(i));
  }
  filter.send_eos();
  fail_unless((take_cuts(filter) == std::vector<bool>{false, false, false, cuts, false, false}));
}
