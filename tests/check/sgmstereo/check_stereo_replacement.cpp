// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests cudasgmstereo with cameras that are unlinked and replaced while it plays.
#include <optional>
#include <string>

#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

/// A camera of the test, which sends GRAY8 frames.
class Camera {
 public:
  Camera(const StereoHarness& stereo, const char* sink, int width)
      : width_(width),
        pad_(GST_PAD(gst_object_ref_sink(gst_pad_new("camera", GST_PAD_SRC)))),
        sink_(pad_of(stereo.element(), sink)) {
    gst_pad_use_fixed_caps(pad_);
    gst_pad_set_active(pad_, TRUE);
    gst_pad_push_event(pad_, gst_event_new_stream_start("camera"));
    const std::string caps = caps_of(format_named("GRAY8"), width, 16);
    gst_pad_push_event(pad_, gst_event_new_caps(caps_from(caps).get()));
    const GstSegment segment = new_segment();
    gst_pad_push_event(pad_, gst_event_new_segment(&segment));
    fail_unless_equals_int(gst_pad_link(pad_, sink_), GST_PAD_LINK_OK);
  }
  ~Camera() {
    gst_pad_unlink(pad_, sink_);
    gst_pad_set_active(pad_, FALSE);
  }
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  GstFlowReturn push(GstClockTime time) {
    const Picture picture = noise_picture(format_named("GRAY8"), width_, 16, 1);
    return gst_pad_push(pad_, at(time, to_buffer(picture)));
  }
  void end() { gst_pad_push_event(pad_, gst_event_new_eos()); }

 private:
  const int width_;
  const Owned<GstPad> pad_;
  const Owned<GstPad> sink_;
};

/// Takes the harness's source pads away; it still gets the maps.
void unlink_harness(const StereoHarness& stereo) {
  for (GstHarness* harness : stereo.harnesses())
    gst_pad_unlink(harness->srcpad, Owned<GstPad>(gst_pad_get_peer(harness->srcpad)).get());
}

}  // namespace

TEST(test_cameras_of_another_size) {
  StereoHarness stereo;
  stereo.accept_gray();
  stereo.process_at(0);
  unlink_harness(stereo);
  GstClockTime time = 0;
  for (int width : {48, 40, 64}) {
    Camera left(stereo, "sink_left", width);
    Camera right(stereo, "sink_right", width);
    for (int i = 0; i < 3; ++i) {
      time += 40 * ms;
      fail_unless_equals_int(left.push(time), GST_FLOW_OK);
      fail_unless_equals_int(right.push(time), GST_FLOW_OK);
      fail_unless_equals_uint64(stereo.pull().pts(), time);
    }
  }
  fail_unless_equals_int(stereo.messages().complaints(), 0);
  fail_unless_equals_uint64(stereo.number("dropped-left"), 0);
}

// One camera after the other. In between the pairs do not fit.
TEST(test_one_camera_after_the_other) {
  StereoHarness stereo;
  stereo.accept_gray();
  stereo.process_at(0);
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

// A new camera takes the place of one that has ended while the other one goes on.
TEST(test_new_camera_after_the_end) {
  for (bool left_ends : {true, false}) {
    StereoHarness stereo;
    stereo.accept_gray();
    stereo.process_at(0);
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
    // Each stream downstream has its beginning, caps, segment and end, in this order.
    std::string events;
    while (const Owned<GstEvent> event{gst_harness_try_pull_event(stereo.left())})
      events += std::string(GST_EVENT_TYPE_NAME(event)) + " ";
    fail_unless(events.find("eos stream-start caps segment eos stream-start caps segment eos ") !=
                    std::string::npos,
                "%s", events.c_str());
  }
}
