// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests properties of cudasgmstereo that change while it runs, and cameras that are replaced.
#include <optional>
#include <string>

#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

constexpr int width = 64, height = 24;

/// A pair with a depth step, speckles and unmatched pixels, so that each property changes the map.
struct Scene {
  Picture left = make_picture(gray(), width, height, Content::random, 5);
  Picture right = left;

  Scene() {
    const Picture near = shifted(left, 11), far = shifted(left, 4);
    const Picture other = noise_picture(*left.format, width, height, 6);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const bool is_other = x > 20 && x < 27 && y > 3 && y < 18;
        const bool blend = (x * 7 + y * 5) % 11 == 0;
        const int value = (y < height / 2 ? near : far).sample(0, x, y);
        right.set_sample(0, x, y,
                         is_other ? other.sample(0, x, y)
                         : blend  ? (value + other.sample(0, x, y)) / 2
                                  : value);
      }
  }
};

Picture process(StereoHarness& stereo, const Scene& scene) {
  return stereo.match(scene.left, scene.right);
}

Picture map_with(const Properties& properties, const Scene& scene) {
  StereoHarness stereo(properties);
  stereo.accept_gray(width, height);
  return process(stereo, scene);
}

const Properties few = {{"num-disparities", "32"}};

class Camera {
 public:
  Camera(const StereoHarness& stereo, const char* sink, int width)
      : width_(width),
        pad_(GST_PAD(gst_object_ref_sink(gst_pad_new("camera", GST_PAD_SRC)))),
        sink_(pad_of(stereo.element(), sink)) {
    gst_pad_use_fixed_caps(pad_);
    gst_pad_set_active(pad_, TRUE);
    gst_pad_push_event(pad_, gst_event_new_stream_start("camera"));
    const std::string caps = caps_of(gray(), width, 16);
    gst_pad_push_event(pad_, gst_event_new_caps(caps_from(caps).get()));
    const GstSegment segment = new_segment();
    gst_pad_push_event(pad_, gst_event_new_segment(&segment));
    fail_unless_equals_int(gst_pad_link(pad_, sink_), GST_PAD_LINK_OK);
  }
  ~Camera() {
    gst_pad_unlink(pad_, sink_);
    gst_pad_set_active(pad_, FALSE);
  }

  GstFlowReturn push(GstClockTime time) {
    const Picture picture = noise_picture(gray(), width_, 16, 1);
    return gst_pad_push(pad_, at(time, to_buffer(picture)));
  }
  void end() { gst_pad_push_event(pad_, gst_event_new_eos()); }

 private:
  const int width_;
  const Owned<GstPad> pad_;
  const Owned<GstPad> sink_;
};

void unlink_harness(const StereoHarness& stereo) {
  for (GstHarness* harness : stereo.harnesses())
    gst_pad_unlink(harness->srcpad, Owned<GstPad>(gst_pad_get_peer(harness->srcpad)).get());
}

}  // namespace

TEST(test_invalid_value_is_true) {
  const Scene scene;
  for (const Properties& properties :
       {Properties{}, Properties{{"min-disparity", "-5"}, {"subpixel", "false"}},
        Properties{{"compatibility", "libsgm"}, {"subpixel", "false"}},
        Properties{{"compatibility", "libsgm"}, {"min-disparity", "2"}}}) {
    StereoHarness stereo(joined(few, properties));
    stereo.accept_gray(width, height);
    const Picture map = process(stereo, scene);
    // Pixels at the left edge have no match.
    int unknown = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        unknown += static_cast<guint64>(map.sample(0, x, y)) == stereo.number("invalid-value");
    fail_unless(unknown > 20);
  }
}

// The map after a change equals the map of a new element with the same properties.
TEST(test_change_while_playing) {
  const Scene scene;
  StereoHarness stereo(few);
  stereo.accept_gray(width, height);
  Properties set = few;
  Picture last = process(stereo, scene);
  for (const auto& [name, value] :
       {std::pair{"noise", "6"}, std::pair{"noise", "0"}, std::pair{"slanted-surfaces", "false"},
        std::pair{"slanted-surfaces", "true"}, std::pair{"uniqueness", "0.6"},
        std::pair{"lr-max-diff", "-1"}, std::pair{"speckle-size", "0"},
        std::pair{"speckle-size", "50"}, std::pair{"speckle-range", "0"},
        std::pair{"subpixel-method", "parabola"}, std::pair{"subpixel", "false"},
        std::pair{"median", "false"}, std::pair{"adaptive-p2", "false"}, std::pair{"p2", "120"},
        std::pair{"p1", "40"}, std::pair{"fill-holes", "true"}, std::pair{"refine", "false"},
        std::pair{"confidence-threshold", "200"}}) {
    stereo.set(name, value);
    set.emplace_back(name, value);
    const Picture map = process(stereo, scene);
    expect_picture(map, map_with(set, scene), text_of(Property(name, value)));
    fail_unless(!difference(map, last).empty(), "%s=%s has no effect", name, value);
    last = map;
  }
  fail_unless_equals_int(stereo.messages().complaints(), 0);
}

TEST(test_camera_and_colors_while_playing) {
  const Scene scene;
  const Picture map = map_with(few, scene);
  StereoHarness depth(
      joined(few, {{"output", "depth"}, {"focal-length", "100"}, {"baseline", "60"}}));
  depth.accept_gray(width, height);
  Cameras cameras{100, 60, 1};
  const auto expect_depth = [&] {
    expect_picture(process(depth, scene), depth_of_map(map, {32, 0, 16}, cameras), "depth");
  };
  expect_depth();
  cameras.focal_length = 321.5;
  depth.set("focal-length", "321.5");
  expect_depth();
  cameras.baseline = 42.25;
  depth.set("baseline", "42.25");
  expect_depth();
  cameras.unit = 0.5;
  depth.set("depth-unit", "0.5");
  expect_depth();

  StereoHarness colors(few);
  colors.accept_downstream("video/x-raw, format=RGB");
  colors.accept_gray(width, height);
  for (const auto& [name, which] :
       {std::pair{"turbo", Colors::turbo}, std::pair{"gray", Colors::gray},
        std::pair{"jet", Colors::jet}}) {
    colors.set("colormap", name);
    expect_picture(process(colors, scene),
                   in_colors(gray_of_map(map, {32, 0, 16}), format_named("RGB"), which), name);
  }
}

// Properties on which caps or memory sizes depend take effect at the next start.
TEST(test_others_wait_for_a_start) {
  const Scene scene;
  Properties now = joined(few, {{"focal-length", "100"}, {"baseline", "60"}});
  StereoHarness stereo(now);
  const auto expect = [&](const Properties& properties) {
    stereo.accept_gray(width, height);
    expect_picture(process(stereo, scene), map_with(properties, scene), "settings in effect");
  };
  expect(now);
  for (const Properties& next :
       {Properties{{"num-disparities", "64"}, {"min-disparity", "-8"}},
        Properties{{"paths", "8"}, {"census", "neighbours-5x5"}},
        Properties{{"census", "symmetric-9x7"}, {"compatibility", "libsgm"}},
        Properties{{"output", "confidence"}}, Properties{{"output", "depth"}}}) {
    for (const Property& property : next)
      stereo.set(property.first, property.second);
    expect(now);  // these properties need a restart
    stereo.restart();
    now = joined(now, next);
    expect(now);
  }
}

// The settings are valid at the start, but invalid when caps arrive.
TEST(test_impossible_in_new_caps) {
  StereoHarness stereo(few);
  stereo.set("p2", "240");
  stereo.accept_gray(width, height);
  const Scene scene;
  gst_harness_push(stereo.left(), to_buffer(scene.left));
  gst_harness_push(stereo.right(), to_buffer(scene.right));
  stereo.expect_error({"223"});
}

TEST(test_impossible_while_playing) {
  const Scene scene;
  StereoHarness stereo(few);
  stereo.accept_gray(width, height);
  const Picture valid = process(stereo, scene);
  for (const auto& [name, wrong, right] :
       {std::tuple{"p1", "250", "0"}, std::tuple{"p2", "230", "0"},
        std::tuple{"lr-max-diff", "2000", "1"}, std::tuple{"uniqueness", "-1", "0.95"},
        std::tuple{"confidence-threshold", "256", "0"}, std::tuple{"temporal-alpha", "0", "1"},
        std::tuple{"temporal-delta", "1025", "1"}, std::tuple{"temporal-persistence", "-1", "0"},
        std::tuple{"depth-unit", "0", "1"}, std::tuple{"max-skew", "-2", "-1"}}) {
    stereo.messages().clear();
    stereo.set(name, wrong);
    stereo.set("subpixel", "false");  // has no effect while the settings are invalid
    for (int i = 0; i < 4; ++i)
      expect_picture(process(stereo, scene), valid, "the last valid settings");
    stereo.messages().expect_one(GST_MESSAGE_WARNING, {name});
    stereo.set(name, right);
    expect_picture(process(stereo, scene), map_with(joined(few, {{"subpixel", "false"}}), scene),
                   "valid again");
    stereo.set("subpixel", "true");
    expect_picture(process(stereo, scene), valid, "as before");
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_WARNING), 1);
  }
}

// Every map must be made with one of the two settings, never with a mixture.
TEST(test_change_from_another_thread) {
  const Scene scene;
  StereoHarness stereo(few);
  stereo.accept_gray(width, height);
  const Picture first = process(stereo, scene);
  const Picture second = map_with(joined(few, {{"p1", "40"}}), scene);
  expect_either([&](unsigned i) { stereo.set("p1", i % 2 == 0 ? "40" : "0"); },
                [&] { return process(stereo, scene); }, first, second);
}

TEST(test_controller) {
  const Scene scene;
  StereoHarness stereo(few);
  std::vector<Point> points;
  for (guint i = 0; i < 4; ++i)
    points.push_back({i * 40 * ms, 10 + 20.0 * i});
  control(stereo.element(), "p1", Curve::steps, points);
  stereo.accept_gray(width, height);
  for (int i = 0; i < 4; ++i) {
    expect_picture(stereo.match(scene.left, scene.right, i * 40 * ms),
                   map_with(joined(few, {{"p1", std::to_string(10 + 20 * i)}}), scene),
                   "controlled");
  }
}

// The cameras change one after the other. A pair whose pictures differ in size is dropped.
TEST(test_one_camera_after_the_other) {
  PlayingStereo stereo;
  unlink_harness(stereo);
  std::optional<Camera> left, right;
  left.emplace(stereo, "sink_left", 40);
  right.emplace(stereo, "sink_right", 40);
  const auto push = [&](GstClockTime time) {
    fail_unless_equals_int(left->push(time), GST_FLOW_OK);
    fail_unless_equals_int(right->push(time), GST_FLOW_OK);
  };
  push(40 * ms);
  stereo.pull();
  for (bool left_first : {true, false}) {
    const guint64 before = stereo.number("dropped-right");
    const int width = left_first ? 48 : 64;
    const auto replace = [&](bool is_left) {
      std::optional<Camera>& camera = is_left ? left : right;
      camera.reset();
      camera.emplace(stereo, is_left ? "sink_left" : "sink_right", width);
    };
    const GstClockTime time = (left_first ? 1 : 2) * GST_SECOND;
    replace(left_first);
    push(time);
    wait_until([&] { return stereo.number("dropped-right") == before + 1; }, "a pair is dropped");
    replace(!left_first);
    push(time + 40 * ms);
    fail_unless_equals_uint64(stereo.pull().pts(), time + 40 * ms);
  }
  fail_unless_equals_int(stereo.messages().complaints(), 0);
}

// A new camera replaces an ended camera while the other camera continues.
TEST(test_new_camera_after_the_end) {
  for (bool left_ends : {true, false}) {
    PlayingStereo stereo;
    unlink_harness(stereo);
    Camera lasting(stereo, left_ends ? "sink_right" : "sink_left", 48);
    const char* const replaced = left_ends ? "sink_left" : "sink_right";
    const char* const counter = left_ends ? "dropped-right" : "dropped-left";
    GstClockTime time = 0;
    for (int i = 0; i < 3; ++i) {
      Camera camera(stereo, replaced, 48);
      time += 40 * ms;
      fail_unless_equals_int(camera.push(time), GST_FLOW_OK);
      fail_unless_equals_int(lasting.push(time), GST_FLOW_OK);
      const Map map = stereo.pull();
      fail_unless_equals_uint64(map.pts(), time);
      fail_unless(map.discont() || i == 0);
      camera.end();
      time += 40 * ms;
      const guint64 before = stereo.number(counter);
      fail_unless_equals_int(lasting.push(time), GST_FLOW_OK);
      wait_until([&] { return stereo.number(counter) == before + 1; }, "the frame is dropped");
    }
    fail_unless_equals_int(stereo.messages().complaints(), 0);
    // Each stream downstream has its stream-start, caps, segment and EOS, in this order.
    std::string events;
    while (const Owned<GstEvent> event{gst_harness_try_pull_event(stereo.left())})
      events += std::string(GST_EVENT_TYPE_NAME(event)) + " ";
    fail_unless(events.find("eos stream-start caps segment eos stream-start caps segment eos ") !=
                    std::string::npos,
                "%s", events.c_str());
  }
}
