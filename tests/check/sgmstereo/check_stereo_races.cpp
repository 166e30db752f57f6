// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what other threads and application callbacks do to cudasgmstereo while it runs.
#include <atomic>
#include <functional>
#include <thread>

#include "tests/check/common/streams/padsharness.h"

using namespace check;

namespace {

void call_when_freed(GstMiniObject* object, std::function<void()>& on_freed) {
  gst_mini_object_set_qdata(object, g_quark_from_static_string("on_freed"), &on_freed,
                            [](gpointer data) { (*static_cast<std::function<void()>*>(data))(); });
}

GstBuffer* frame_with_callback(GstClockTime time, std::function<void()>& on_freed) {
  GstBuffer* frame = small_frame({time});
  call_when_freed(GST_MINI_OBJECT_CAST(frame), on_freed);
  return frame;
}

GstPad* request_depth(GstElement* element) {
  return gst_element_request_pad(
      element, gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(element), "depth"), nullptr,
      nullptr);
}

void release(GstElement* element, GstPad* pad) {
  gst_element_release_request_pad(element, pad);
  gst_object_unref(pad);
}

void on_pair(GstElement* element, std::function<void()>& look) {
  g_object_set(element, "emit-signals", TRUE, nullptr);
  g_signal_connect(
      element, "samples-selected",
      G_CALLBACK(+[](GstElement*, GstSegment*, guint64, guint64, guint64, GstStructure*,
                     gpointer data) { (*static_cast<std::function<void()>*>(data))(); }),
      &look);
}

}  // namespace

// A callback for a freed frame may call the element, even while the element stops.
TEST(test_frames_are_freed_without_a_lock) {
  for (bool flush : {false, true}) {
    std::atomic<int> freed{0};
    std::function<void()> on_freed;
    StereoHarness stereo(Properties{{"max-skew", "1000000000"}});
    on_freed = [&] {
      stereo.number("dropped-left");
      ++freed;
    };
    stereo.accept_gray();
    gst_harness_push(stereo.left(), frame_with_callback(0, on_freed));
    gst_harness_push(stereo.right(), frame_with_callback(30 * ms, on_freed));
    let_time_pass(50);  // nothing must be freed meanwhile
    fail_unless_equals_int(freed, 0);
    if (flush)
      stereo.flush();
    gst_element_set_state(stereo.element(), GST_STATE_READY);
    fail_unless_equals_int(freed, 2);
  }
}

// A callback for freed caps may also call the element, which frees the caps when it stops.
TEST(test_caps_are_freed_without_a_lock) {
  int freed = 0;
  std::function<void()> on_freed;
  StereoHarness stereo;
  on_freed = [&] {
    stereo.number("dropped-left");
    ++freed;
  };
  GstCaps* caps = gst_caps_from_string(caps_of(gray(), 32, 16).c_str());
  call_when_freed(GST_MINI_OBJECT_CAST(caps), on_freed);
  gst_harness_push_event(stereo.left(), gst_event_new_caps(caps));
  gst_caps_unref(caps);
  gst_pad_set_active(stereo.left()->srcpad, FALSE);
  let_time_pass(50);  // nothing must be freed meanwhile
  fail_unless_equals_int(freed, 0);
  gst_element_set_state(stereo.element(), GST_STATE_READY);
  fail_unless_equals_int(freed, 1);
}

TEST(test_pads_in_two_threads) {
  const Owned<GstElement> element = make_element("cudasgmstereo", stereo_cameras);
  std::atomic<int> requested{0};
  const auto run = [&] {
    for (int i = 0; i < 20000; ++i)
      if (GstPad* pad = request_depth(element)) {
        fail_unless(GST_PAD_PARENT(pad) == element);
        release(element, pad);
        ++requested;
      }
  };
  std::thread other(run);
  run();
  other.join();
  fail_unless(requested > 0);
  GstPad* pad = request_depth(element);
  fail_unless(pad != nullptr, "the pad is lost");
  release(element, pad);
}

// While a pad is being removed, its name is still taken, and a second release has no effect.
TEST(test_request_while_a_pad_leaves) {
  const Owned<GstElement> element = make_element("cudasgmstereo", stereo_cameras);
  const Owned<GstPad> sink(GST_PAD(gst_object_ref_sink(gst_pad_new("sink", GST_PAD_SINK))));
  GstPad* const depth = request_depth(element);
  fail_unless_equals_int(gst_pad_link(depth, sink), GST_PAD_LINK_OK);
  static int refused;
  refused = 0;
  g_signal_connect(depth, "unlinked", G_CALLBACK(+[](GstPad* pad, GstPad*, GstElement* self) {
                     gst_element_release_request_pad(self, pad);  // a second release
                     refused += request_depth(self) == nullptr;
                   }),
                   element.get());
  release(element, depth);
  fail_unless_equals_int(refused, 1);
  GstPad* const next = request_depth(element);
  fail_unless(next != nullptr, "the pad is lost");
  release(element, next);
}

// The pad can be requested again as soon as the application is notified of its removal.
TEST(test_request_when_a_pad_is_removed) {
  const Owned<GstElement> element = make_element("cudasgmstereo", stereo_cameras);
  static GstPad* again;
  again = nullptr;
  GstPad* const first = request_depth(element);
  g_signal_connect(element.get(), "pad-removed",
                   G_CALLBACK(+[](GstElement* self, GstPad*, gpointer) {
                     if (again == nullptr)
                       again = request_depth(self);
                   }),
                   nullptr);
  release(element, first);
  fail_unless(again != nullptr && GST_PAD_PARENT(again) == element);
  fail_unless(request_depth(element) == nullptr, "two pads of one name");
  release(element, again);
  GstPad* const third = request_depth(element);
  fail_unless(third != nullptr);
  gst_element_remove_pad(element, third);
  gst_object_unref(third);
  GstPad* const last = request_depth(element);
  fail_unless(last != nullptr);
  release(element, last);
}

// Two threads release the same pad, one of them while the pad pushes a buffer.
TEST(test_pad_is_released_twice, .times(20)) {
  PadsHarness stereo;
  GstPad* const depth = request_depth(stereo.element());
  const Owned<GstPad> sink(GST_PAD(gst_object_ref_sink(gst_pad_new("sink", GST_PAD_SINK))));
  // The pad may still be linked when the push continues.
  answer_buffers(sink);
  gst_pad_set_active(sink, TRUE);
  fail_unless_equals_int(gst_pad_link(depth, sink), GST_PAD_LINK_OK);
  std::atomic<bool> pushed{false};
  std::atomic<int> released{0};
  const auto release_depth = [&] {
    GST_ELEMENT_GET_CLASS(stereo.element())->release_pad(stereo.element(), depth);
    ++released;
  };
  on_buffers(depth, [&](GstBuffer*) {
    pushed = true;
    release_depth();
  });
  stereo.accept_gray();
  std::thread other([&] {
    while (!pushed)
      g_thread_yield();
    release_depth();
  });
  stereo.process_at(0);
  stereo.process_at(40 * ms);
  other.join();
  // While the pushing thread removes the pad, the name is still taken.
  wait_until([&] { return released >= 2; }, "the pad is released");
  gst_object_unref(depth);
  stereo.open("depth");
  fail_unless_equals_int(stereo.process_all(80 * ms).size(), 2);
  fail_unless_equals_int(stereo.messages().complaints(), 0);
}

// During a stop or flush, a pad without a segment must get no buffer, or GStreamer would warn.
TEST(test_stop_at_the_first_frame) {
  for (bool stop : {true, false}) {
    PadsHarness stereo(joined(stereo_cameras, {{"diagnostics-interval", "40000000"}}));
    stereo.open("depth");
    stereo.unlink_src();
    const Owned<GstPad> src = pad_of(stereo.element(), "src");
    std::atomic<bool> waits{false};
    // The message is posted after the pair's processing, just before its push.
    stereo.messages().on_message([&](GstMessage* message) {
      if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT)
        return;
      waits = true;
      while (!GST_PAD_IS_FLUSHING(src.get()))
        g_thread_yield();
    });
    stereo.accept_gray();
    stereo.push_pair(0);
    wait_until([&] { return waits.load(); }, "a pair");
    if (stop)
      gst_element_set_state(stereo.element(), GST_STATE_READY);
    else
      stereo.flush();
    fail_unless(gst_harness_try_pull(stereo.at_pad("depth")) == nullptr);
  }
}

// A pad follows a new peer's caps; pairs in flight keep the old caps.
TEST(test_new_peers, .times(8)) {
  const bool is_src = index % 2 == 0;
  constexpr int limits[] = {1, 2, 4, 8};
  const PickySink next("video/x-raw, format=RGB");
  PadsHarness stereo(
      joined(stereo_cameras, {{"frames-in-flight", std::to_string(limits[index / 2])}}));
  stereo.open("depth");
  for (GstHarness* harness : stereo.outlets())
    gst_harness_set_drop_buffers(harness, TRUE);
  const Owned<GstPad> src = pad_of(stereo.element(), "src"),
                      depth = pad_of(stereo.element(), "depth");
  GstPad* const moved = is_src ? src.get() : depth.get();
  int pairs = 0;
  on_buffers(is_src ? depth : src, [&](GstBuffer*) {
    if (++pairs != 5)
      return;
    const Owned<GstPad> peer(gst_pad_get_peer(moved));
    gst_pad_unlink(moved, peer);
    fail_unless_equals_int(gst_pad_link(moved, next.pad()), GST_PAD_LINK_OK);
  });
  stereo.accept_gray();
  const auto feed = [](GstHarness* camera) {
    for (const StereoFrame& frame : frames_from(0, 40))
      fail_unless_equals_int(gst_harness_push(camera, small_frame(frame)), GST_FLOW_OK);
  };
  std::thread other(feed, stereo.right());
  feed(stereo.left());
  other.join();
  wait_until([&] { return next.frames() >= 25; }, "frames at the new peer");
  fail_unless_equals_int(stereo.messages().complaints(), 0);
  gst_element_set_state(stereo.element(), GST_STATE_READY);  // while the probe's objects exist
}

// A handler may stop the element in the pairing thread, although GStreamer warns.
TEST(test_stop_in_the_pairing_thread, .times(2)) {
  StereoHarness stereo(Properties{{"diagnostics-interval", "40000000"}});
  std::atomic<bool> stops{false}, stopped{false};
  const auto stop = [&] {
    if (stops.exchange(true))
      return;
    _gst_check_expecting_log = TRUE;
    gst_element_set_state(stereo.element(), GST_STATE_NULL);
    stopped = true;
  };
  std::function<void()> look = stop;
  if (index == 0)
    stereo.messages().on_message([&](GstMessage* message) {
      if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT)
        stop();
    });
  else
    on_pair(stereo.element(), look);
  stereo.accept_gray();
  gst_harness_push(stereo.left(), small_frame({0}));
  gst_harness_push(stereo.right(), small_frame({0}));
  wait_until([&] { return stopped.load(); }, "the stop");
  // The pairing thread cannot join itself, so another thread must.
  const Owned<GstPad> src = pad_of(stereo.element(), "src");
  gst_pad_stop_task(src);
  fail_unless(gst_harness_push(stereo.left(), small_frame({40 * ms})) != GST_FLOW_OK);
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}
