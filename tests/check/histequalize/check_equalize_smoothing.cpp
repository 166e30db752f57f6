// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests smoothing-time and scene-cut-threshold of cudahistequalize: the pixels of successive
// frames, the times between them, what begins a new average, the messages about scene cuts, and how
// much less videos flicker.
#include <cmath>
#include <numeric>
#include <random>

#include "tests/check/common/definitions.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/histogrammessage.h"
#include "tests/check/common/photographs.h"
#include "tests/check/common/pipelines.h"

using namespace check;

namespace {

constexpr double frame_time = 40 * GST_MSECOND;
const Property one_second = {"smoothing-time", "1000000000"};
const Property no_cuts = {"scene-cut-threshold", "1"};

const FormatSpec& gray() {
  return format_named("GRAY8");
}

/// Adds a number to every sample of luma, red, green and blue.
Picture brighter(const Picture& picture, int by) {
  Picture result = picture;
  const int most = picture.format->peak();
  for (int place = 0; place < static_cast<int>(picture.format->places.size()); ++place)
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x)
        result.set_sample(place, x, y, std::clamp(picture.sample(place, x, y) + by, 0, most));
  return result;
}

Picture natural(const FormatSpec& format, int width, int height, unsigned seed = 1) {
  return make_picture(format, width, height, Content::natural, seed);
}

/// A picture with another histogram than natural().
Picture other(const FormatSpec& format, int width, int height) {
  return make_picture(format, width, height, Content::ramp, 2);
}

/// A definition of the method, with few tiles because it is slow with many.
Equalization with_method(bool adaptive) {
  Equalization how;
  how.adaptive = adaptive;
  how.tiles_x = 3;
  how.tiles_y = 2;
  return how;
}

/// An element and its definition, which process the same gray frames.
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

  /// Changes the element and its definition.
  void change(const Equalization& how) {
    how_ = how;
    filter_.set(how.properties());
  }

  /// Expects the output that the frame has `elapsed` ns after the last one.
  void expect(const Picture& picture, GstClockTime pts, double elapsed, const char* what,
              GstClockTime duration = GST_CLOCK_TIME_NONE) {
    filter_.expect(at(pts, to_buffer(picture), duration),
                   definition_.next(picture, how_, elapsed, 1e9, 1), what);
  }

  /// Expects that the frame begins a new average, and that one that does not would differ.
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

}  // namespace

namespace {

/// Compares the element with the definition, for a video in each of several sizes.
void expect_definition(const FormatSpec& format, const Equalization& settings) {
  for (bool each_channel : {false, true}) {
    if (each_channel && !format.has_single_colors())
      continue;
    Equalization how = settings;
    how.each_channel = each_channel;
    how.limited = true;
    FilterHarness filter("cudahistequalize", how.tile_properties());
    filter.set("smoothing-time", "200000000");
    filter.set("scene-cut-threshold", "0.75");
    for (const Size& size : {Size{1, 1}, Size{37, 23}, Size{130, 66}}) {
      filter.accept_caps(format, size.width, size.height, colorimetry(format, true));
      SmoothedEqualization definition;
      const Picture first = natural(format, size.width, size.height);
      for (int frame = 0; frame < 8; ++frame) {
        how.strength = frame == 5 ? 0.5 : 1;
        filter.set(how.properties());
        const Picture picture = frame == 6
                                    ? other(format, size.width, size.height)
                                    : brighter(first, frame * frame * 2 << (format.bits - 8));
        const Picture expected = definition.next(picture, how, frame_time, 200e6, 0.75);
        filter.expect(
            at(static_cast<GstClockTime>(frame * frame_time), to_buffer(picture, odd_layout)),
            expected, "frame " + std::to_string(frame) + ", " + text_of(how.properties()));
      }
      filter.set("channels", "luma");
    }
  }
}

}  // namespace

TEST(test_definition, .times(formats().size())) {
  expect_definition(format_number(index), with_method(false));
}

TEST(test_definition_of_tiles, .times(formats().size())) {
  expect_definition(format_number(index), with_method(true));
}

TEST(test_off_by_default) {
  FilterHarness filter;
  filter.accept_caps(gray(), 64, 48, colorimetry(gray(), false));
  for (int frame = 0; frame < 5; ++frame) {
    const Picture picture = brighter(natural(gray(), 64, 48), 10 * frame);
    expect_picture(filter.process(picture), equalized(picture, {}), "off");
  }
}

// The weight of a frame follows from the running time since the last one.
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

// Another smoothing time goes on with the same average.
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

// Another method begins a new average, also if it had one before.
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

// Another clip limit makes other tables from the same average.
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

// An impossible threshold leaves the last one in force, and one warning names the remedy.
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
  fail_unless_equals_int(filter.messages().complaints(), 1);
  expect_words(filter.messages().text(GST_MESSAGE_WARNING), {"scene-cut-threshold=-0.5", "0 to 1"});
}

// With strength=0, frames pass and the average does not see them.
TEST(test_paused_by_strength) {
  SmoothedVideo video;
  video.expect(dark(), 0, 0, "the first frame");
  video.filter().set("strength", "0");
  video.filter().expect(at(40 * GST_MSECOND, to_buffer(bright())), bright(), "passes");
  video.filter().set("strength", "1");
  video.expect(bright(), 80 * GST_MSECOND, 80e6, "since the last smoothed frame");
}

/* Scene cuts */

namespace {

/// Returns the values of scene-cut of the messages posted so far.
std::vector<bool> take_cuts(FilterHarness& filter) {
  std::vector<bool> cuts;
  for (const Owned<GstMessage>& message : filter.messages().take(GST_MESSAGE_ELEMENT)) {
    gboolean cut = FALSE;
    fail_unless(gst_structure_get_boolean(structure_of(message), "scene-cut", &cut));
    cuts.push_back(cut);
  }
  return cuts;
}

/// Pushes frames of two scenes, 40 ms each.
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

// A message also tells of a scene cut at a frame that has none.
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

// The scene cuts of one average are none of the other's.
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

// After a hard cut, frames look as if the scene had begun there.
TEST(test_hard_cut_settles, .times(2)) {
  const Equalization how = with_method(index == 1);
  FilterHarness filter("cudahistequalize", how.tile_properties());
  filter.set(one_second);
  filter.set(how.properties());
  with_caps(filter);
  const Picture before = natural(gray(), 64, 48), after = other(gray(), 64, 48);
  for (guint i = 0; i < 20; ++i) {
    const Picture& picture = i < 10 ? before : after;
    filter.expect(at(i * 40 * GST_MSECOND, to_buffer(picture)), equalized(picture, how),
                  "frame " + std::to_string(i));
  }
}

/* Flicker */

namespace {

/// Returns the mean change from one number to the next.
double mean_change(const std::vector<double>& numbers) {
  double sum = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i)
    sum += std::fabs(numbers[i] - numbers[i - 1]);
  return sum / static_cast<double>(numbers.size() - 1);
}

}  // namespace

// A lamp pumps over the right half of the picture. The left half must not pump with it.
TEST(test_pumping_exposure) {
  std::mt19937 random(1);
  FilterHarness plain("cudahistequalize"), smoothed("cudahistequalize", {one_second});
  std::vector<double> left_plain, left_smoothed;
  const Picture scene = natural(gray(), 160, 120);
  const auto left_mean = [](const Picture& picture) {
    double sum = 0;
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width / 2; ++x)
        sum += picture.sample(0, x, y);
    return sum / (picture.height * picture.width / 2);
  };
  for (FilterHarness* filter : {&plain, &smoothed})
    filter->accept_caps(gray(), scene.width, scene.height, colorimetry(gray(), false));
  for (guint i = 0; i < 75; ++i) {
    Picture picture = scene;
    const double light = 1 + 0.15 * std::sin(i * 1.3);
    for (int y = 0; y < scene.height; ++y)
      for (int x = scene.width / 2; x < scene.width; ++x)
        picture.set_sample(0, x, y,
                           std::clamp(static_cast<int>(light * scene.sample(0, x, y)) +
                                          static_cast<int>(random() % 3),
                                      0, 255));
    for (auto& [filter, means] :
         {std::pair<FilterHarness*, std::vector<double>*>{&plain, &left_plain},
          {&smoothed, &left_smoothed}}) {
      const Owned<GstBuffer> out = filter->process(at(i * 40 * GST_MSECOND, to_buffer(picture)));
      means->push_back(left_mean(from_buffer(out, gray(), scene.width, scene.height)));
    }
  }
  const double before = mean_change(left_plain), after = mean_change(left_smoothed);
  g_print(
      "pumping exposure: the still half changes by %.3f grey levels from frame to frame, "
      "with smoothing by %.3f\n",
      before, after);
  fail_unless(before > 0.5);
  fail_unless(after <= before / 10);
}

namespace {

constexpr char street[] = "vtest.avi";

std::string unless_street() {
  const std::string file = picture_file(street);
  if (!g_file_test(file.c_str(), G_FILE_TEST_IS_REGULAR))
    return file + " is missing (Debian: opencv-doc)";
  return unless_elements({"filesrc", "decodebin", "avidemux", "avdec_msmpeg4", "videoconvert",
                          "videocrop", "tee", "queue", "fakesink"});
}

/// Collects the means of a lawn that nobody walks on, in every frame that a pad gets.
class Lawn {
 public:
  Lawn(GstElement* pipeline, const char* sink) {
    const Owned<GstPad> pad = pad_of(element_in(pipeline, sink).get(), "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, this, nullptr);
  }

  /// The part of a launch line that cuts the lawn out of the street.
  static constexpr char crop[] = " ! videocrop left=0 right=628 top=360 bottom=36 ! fakesink name=";
  static constexpr int width = 140, height = 180;

  double change() const { return mean_change(means_); }

 private:
  static GstPadProbeReturn on_frame(GstPad*, GstPadProbeInfo* info, gpointer self) {
    GstMapInfo map;
    fail_unless(gst_buffer_map(GST_PAD_PROBE_INFO_BUFFER(info), &map, GST_MAP_READ));
    fail_unless_equals_int(map.size, width * height);
    static_cast<Lawn*>(self)->means_.push_back(std::accumulate(map.data, map.data + map.size, 0) /
                                               static_cast<double>(map.size));
    gst_buffer_unmap(GST_PAD_PROBE_INFO_BUFFER(info), &map);
    return GST_PAD_PROBE_OK;
  }

  std::vector<double> means_;
};

}  // namespace

// People who walk through the street change the histogram. The lawn must not change with it. It
// does change more than in the source, because tables that raise the contrast do so with the
// source's changes as well: smoothing must come close to tables that never change.
TEST(test_lawn, .times(2).unless(unless_street()).unless(unless_sanitized())) {
  const std::string method = index == 1 ? "clahe" : "equalize";
  struct Branch {
    const char* name;
    std::string element;
    std::unique_ptr<Lawn> lawn{};
  };
  const std::string equalize = " ! cudahistequalize method=" + method;
  Branch branches[] = {
      {"source", ""},
      {"plain", equalize},
      {"smoothed", equalize + " smoothing-time=1000000000"},
      {"fixed", equalize + " smoothing-time=1000000000000000 scene-cut-threshold=1"},
  };
  std::string pipeline = "filesrc location=" + picture_file(street) +
                         " ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! tee name=t";
  for (const Branch& branch : branches)
    pipeline += " t. ! queue" + branch.element + Lawn::crop + branch.name;
  double changes[std::size(branches)];
  run_pipeline(
      pipeline,
      [&](GstElement* bin) {
        for (Branch& branch : branches)
          branch.lawn = std::make_unique<Lawn>(bin, branch.name);
      },
      [&](GstElement*) {
        for (std::size_t i = 0; i < std::size(branches); ++i)
          changes[i] = branches[i].lawn->change();
      });
  const auto [source, plain, smoothed, fixed] = changes;
  g_print(
      "lawn, method=%s: the mean changes by %.4f grey levels from frame to frame, equalised by "
      "%.2f times that, with smoothing by %.2f times, with tables held fixed by %.2f times\n",
      method.c_str(), source, plain / source, smoothed / source, fixed / source);
  fail_unless(plain > 3 * source);
  fail_unless(smoothed <= 1.05 * fixed);
  if (method == "equalize")
    fail_unless(smoothed <= 1.25 * source);
}
