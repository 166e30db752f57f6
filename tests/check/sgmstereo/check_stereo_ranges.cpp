// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests colormap-range of cudasgmstereo: the values that grey levels and colours represent.
#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/common/streams/padsharness.h"

using namespace check;

namespace {

constexpr int width = 64, height = 24;
constexpr MapScale scale = {32, 0, 16};

struct Scene {
  Picture left = make_picture(gray(), width, height, Content::random, 5);
  Picture right = left;

  Scene(int near, int far) {
    const Picture of_near = shifted(left, near), of_far = shifted(left, far);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        right.set_sample(0, x, y, (y < height / 2 ? of_near : of_far).sample(0, x, y));
  }
};

Properties with(const Properties& more) {
  return joined(joined(stereo_cameras, {{"num-disparities", "32"}}), more);
}

struct OutputHarness : StereoHarness {
  OutputHarness(const char* output, const char* format, const Properties& more)
      : StereoHarness(joined(with(more), {{"output", output}})) {
    accept_downstream(std::string("video/x-raw, format=") + format);
    accept_gray(width, height);
  }

  Picture next(const Scene& scene, GstClockTime time = 0, bool discont = false) {
    GstBuffer* left_frame = at(time, to_buffer(scene.left));
    if (discont)
      GST_BUFFER_FLAG_SET(left_frame, GST_BUFFER_FLAG_DISCONT);
    return match(left_frame, at(time, to_buffer(scene.right)));
  }
};

Picture output_of(const char* output, const char* format, const Scene& scene,
                  const Properties& more = {}) {
  return OutputHarness(output, format, more).next(scene);
}

using Look = cudavision::sgm::PictureParameters;
using Quantity = Look::Quantity;

Picture levels_in(const Picture& numbers, Quantity quantity, Look::Range range) {
  // 700, 120 and 0.5 are the values of stereo_cameras.
  return levels_of(numbers, scale, {Look::Kind::gray, quantity, 700, 120, 0.5, range});
}

Picture levels_between(const Picture& numbers, Quantity quantity, double low, double high) {
  return levels_of(numbers, scale,
                   {Look::Kind::gray, quantity, 700, 120, 0.5, Look::Range::fixed, low, high});
}

}  // namespace

// By default, the range is full for disparities and confidence, and automatic for depths.
TEST(test_defaults) {
  const Scene scene(20, 6);
  const Picture map = output_of("disparity", "GRAY16_LE", scene);
  struct Output {
    const char* name;
    Picture gray;
  };
  const Output outputs[] = {
      {"disparity", gray_of_map(map, scale)},
      {"depth", levels_in(map, Quantity::depth, Look::Range::automatic)},
      {"confidence", output_of("confidence", "GRAY8", scene)},
  };
  for (const char* range : {"", "disparity=full;confidence=full;depth=auto"})
    for (const auto& [name, gray] : outputs) {
      const Properties properties = {{"colormap-range", range}};
      expect_picture(output_of(name, "GRAY8", scene, properties), gray, name);
      for (const char* format : {"RGB", "RGBA", "BGRx"})
        expect_picture(output_of(name, format, scene, properties),
                       in_colors(gray, format_named(format)), name);
    }
  fail_unless(!difference(outputs[0].gray, outputs[1].gray).empty());
}

TEST(test_two_numbers) {
  const Scene scene(20, 6);
  const Picture map = output_of("disparity", "GRAY16_LE", scene);
  const Picture confidence = output_of("confidence", "GRAY8", scene);
  for (const auto& [low, high] :
       {std::pair{0.0, 31.0}, {4.5, 12.25}, {-10.0, 100.0}, {7.0, 7.01}}) {
    const std::string text = std::to_string(low) + "," + std::to_string(high);
    expect_picture(output_of("disparity", "GRAY8", scene, {{"colormap-range", text}}),
                   levels_between(map, Quantity::disparity, low, high), text);
  }
  for (const auto& [low, high] : {std::pair{8000, 30000}, {1, 65535}, {0, 100}}) {
    const std::string text = " " + std::to_string(low) + " , " + std::to_string(high) + " ";
    const Picture expected = levels_between(map, Quantity::depth, low, high);
    expect_picture(output_of("depth", "GRAY8", scene, {{"colormap-range", text}}), expected, text);
    expect_picture(output_of("depth", "RGB", scene,
                             {{"colormap-range", "depth=" + text}, {"colormap", "jet"}}),
                   in_colors(expected, format_named("RGB"), Colors::jet), text);
  }
  expect_picture(
      output_of("confidence", "RGB", scene, {{"colormap-range", "100,200"}}),
      in_colors(levels_between(confidence, Quantity::confidence, 100, 200), format_named("RGB")),
      "confidence");
  expect_picture(output_of("confidence", "GRAY8", scene, {{"colormap-range", "100,200"}}),
                 confidence, "confidence");
}

TEST(test_automatic) {
  const Scene scene(20, 6);
  const Picture map = output_of("disparity", "GRAY16_LE", scene);
  for (const char* text :
       {"auto", "disparity=auto", "disparity = 0,5 ; disparity=auto;", "depth=full;disparity=auto"})
    expect_picture(output_of("disparity", "GRAY8", scene, {{"colormap-range", text}}),
                   levels_in(map, Quantity::disparity, Look::Range::automatic), text);
  expect_picture(output_of("depth", "GRAY8", scene, {{"colormap-range", "depth=full"}}),
                 levels_in(map, Quantity::depth, Look::Range::full), "full");
}

// Ranges take effect with the next frame, and each output has its own range.
TEST(test_changes_while_playing) {
  const Scene scene(20, 6);
  const Picture map = output_of("disparity", "GRAY16_LE", scene);
  PadsHarness stereo(with({}));
  stereo.accept_downstream("video/x-raw, format=GRAY8");
  GstHarness* const pad = stereo.open("depth");
  gst_harness_set_sink_caps_str(pad, "video/x-raw, format=GRAY8");
  stereo.accept_gray(width, height);
  struct Step {
    const char* range;
    Picture disparity, depth;
  };
  const Picture searched = gray_of_map(map, scale),
                automatic = levels_in(map, Quantity::depth, Look::Range::automatic);
  for (const Step& step :
       {Step{"", searched, automatic},
        Step{"depth=9000,20000", searched, levels_between(map, Quantity::depth, 9000, 20000)},
        Step{"depth=9000,20000;disparity=3,9", levels_between(map, Quantity::disparity, 3, 9),
             levels_between(map, Quantity::depth, 9000, 20000)},
        Step{"disparity=3,9", levels_between(map, Quantity::disparity, 3, 9), automatic}}) {
    stereo.set("colormap-range", step.range);
    expect_picture(stereo.match(scene.left, scene.right), step.disparity, step.range);
    expect_picture(picture_at(pad->sinkpad, pull_from(pad)), step.depth, step.range);
  }
}

// Automatic ranges follow the scene over seconds of running time.
TEST(test_automatic_ranges_are_smooth) {
  const Scene before(10, 3), after(28, 15);
  OutputHarness stereo("disparity", "GRAY8", {{"colormap-range", "auto"}});
  const Picture at_once = output_of("disparity", "GRAY8", after, {{"colormap-range", "auto"}});
  stereo.next(before);
  const Picture soon = stereo.next(after, 40 * ms);
  fail_unless(!difference(soon, at_once).empty(), "the range has moved within a frame");
  const auto sum = [](const Picture& picture) {
    int levels = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        levels += picture.sample(0, x, y);
    return levels;
  };
  int last = sum(soon);
  for (guint i = 2; i < 12; ++i) {
    const int levels = sum(stereo.next(after, i * 300 * ms));
    fail_unless(levels <= last, "the levels do not approach the new range");
    last = levels;
  }
  fail_unless(last < sum(soon));
  expect_picture(stereo.next(after, 60 * GST_SECOND), at_once, "after a minute");
}

// Automatic ranges restart at a discontinuity, a segment, a flush and new caps.
TEST(test_automatic_ranges_restart) {
  const Scene before(10, 3), after(28, 15);
  const Picture at_once = output_of("disparity", "GRAY8", after, {{"colormap-range", "auto"}});
  OutputHarness stereo("disparity", "GRAY8", {{"colormap-range", "auto"}});
  GstClockTime time = 0;
  const auto first = [&] { stereo.next(before, time += 40 * ms, true); };
  first();
  expect_picture(stereo.next(after, time += 40 * ms, true), at_once, "DISCONT");
  first();
  const GstSegment segment = new_segment();
  stereo.send_to_all([&] { return gst_event_new_segment(&segment); });
  expect_picture(stereo.next(after, time += 40 * ms), at_once, "a segment");
  first();
  stereo.flush();
  time = 0;
  expect_picture(stereo.next(after, time), at_once, "a flush");
  first();
  stereo.accept_gray(48, 16);
  stereo.process(to_buffer(Picture(gray(), 48, 16)), to_buffer(Picture(gray(), 48, 16)));
  stereo.accept_gray(width, height);
  expect_picture(stereo.next(after, time), at_once, "caps");
}

// At the start, an invalid list is an error. While playing, the last valid list stays in effect.
TEST(test_wrong_lists) {
  const Scene scene(20, 6);
  const Picture map = output_of("disparity", "GRAY16_LE", scene);
  OutputHarness stereo("disparity", "GRAY8", {{"colormap-range", "4,9"}});
  stereo.next(scene);
  for (const auto& [text, words] : {std::pair{"search", "full, auto, or two numbers"},
                                    {"1", "full, auto, or two numbers"},
                                    {"1,2,3", "full, auto, or two numbers"},
                                    {"1;2", "full, auto, or two numbers"},
                                    {"nan,5", "full, auto, or two numbers"},
                                    {"0,inf", "full, auto, or two numbers"},
                                    {"5,5", "not larger"},
                                    {"auto;depth=9,1", "not larger"},
                                    {"points=0,5", "disparity, depth or confidence"},
                                    {"=auto", "disparity, depth or"}}) {
    expect_words(start_error(with({{"colormap-range", text}})),
                 {std::string("colormap-range=\"") + text + "\"", words});
    stereo.set("colormap-range", text);
    for (int i = 0; i < 2; ++i)
      expect_picture(stereo.next(scene), levels_between(map, Quantity::disparity, 4, 9), text);
    stereo.messages().expect_one(GST_MESSAGE_WARNING, {words});
    stereo.messages().clear();
    stereo.set("colormap-range", "4,9");
    stereo.next(scene);
  }
}
