// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests time in cudasgmstereo: latency, timeouts of frames and of an unlinked pad, and QoS.
#include <gst/check/gsttestclock.h>

#include <atomic>
#include <cstring>

#include "tests/check/common/pipelines.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

/// The number of calls of the element's aggregate function, counted in GstAggregator's log.
std::atomic<int> calls{0};

void count_calls(GstDebugCategory* category, GstDebugLevel, const gchar*, const gchar*, gint,
                 GObject*, GstDebugMessage* message, gpointer) {
  if (std::strcmp(gst_debug_category_get_name(category), "aggregator") == 0 &&
      std::strstr(gst_debug_message_get(message), "Actually aggregating") != nullptr)
    ++calls;
}

void begin_to_count() {
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_remove_log_function(count_calls);  // an earlier test of this process may have added it
  gst_debug_add_log_function(count_calls, nullptr, nullptr);
  gst_debug_set_active(TRUE);
  gst_debug_set_threshold_for_name("aggregator", GST_LEVEL_LOG);
  calls = 0;
}

int count_waits(StereoHarness& stereo) {
  const Owned<GstTestClock> clock(gst_harness_get_testclock(stereo.left()));
  return static_cast<int>(gst_test_clock_peek_id_count(clock));
}

class SystemTestClock {
 public:
  SystemTestClock() { gst_system_clock_set_default(GST_CLOCK(clock_.get())); }
  ~SystemTestClock() { gst_system_clock_set_default(nullptr); }

  void move_to(GstClockTime time) {
    gst_test_clock_set_time(clock_, time);
    while (GstClockID id = gst_test_clock_process_next_clock_id(clock_))
      gst_clock_id_unref(id);
  }

 private:
  const Owned<GstTestClock> clock_{GST_TEST_CLOCK(gst_test_clock_new())};
};

std::string gray_caps() {
  return caps_of(gray(), 40, 24);
}

GstBuffer* gray_frame() {
  return to_buffer(noise_picture(gray(), 40, 24, 3));
}

}  // namespace

TEST(test_latency) {
  for (const auto& [max_skew, own] :
       {std::pair{"-1", 20 * ms}, std::pair{"0", 0 * ms}, std::pair{"70000000", 70 * ms}}) {
    StereoHarness stereo(Properties(1, {"max-skew", max_skew}));
    gst_harness_set_upstream_latency(stereo.left(), 5 * ms);
    gst_harness_set_upstream_latency(stereo.right(), 7 * ms);
    stereo.accept_gray();
    stereo.process_at(0);
    fail_unless_equals_uint64(gst_harness_query_latency(stereo.left()), 7 * ms + own);
  }
  StereoHarness packed(Properties(1, {"frame-packing", "side-by-side"}), false);
  gst_harness_set_upstream_latency(packed.left(), 5 * ms);
  packed.accept_gray();
  packed.process(small_frame({0}), nullptr);
  fail_unless_equals_uint64(gst_harness_query_latency(packed.left()), 5 * ms);
}

TEST(test_latency_changes) {
  PlayingStereo stereo;
  const int before = stereo.messages().count(GST_MESSAGE_LATENCY);
  for (int i = 1; i < 10; ++i)
    stereo.process_at(i * 40 * ms);
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_LATENCY), before);
  stereo.set("max-skew", "3000000");
  stereo.process_at(400 * ms);
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_LATENCY), before + 1);
  fail_unless_equals_uint64(gst_harness_query_latency(stereo.left()), 3 * ms);
}

// A frame without a partner is dropped after max-skew and latency, with few aggregate() calls.
TEST(test_timeout) {
  begin_to_count();
  for (bool left_speaks : {true, false}) {
    PlayingStereo stereo;
    GstHarness* speaker = left_speaks ? stereo.left() : stereo.right();
    const char* counter = left_speaks ? "dropped-left" : "dropped-right";
    calls = 0;
    for (guint i = 1; i <= 20; ++i) {
      fail_unless_equals_int(gst_harness_push(speaker, small_frame({i * 40 * ms})), GST_FLOW_OK);
      wait_until([&] { return count_waits(stereo) == 1; }, "the element to wait for the clock");
      fail_unless_equals_uint64(stereo.number(counter), i - 1);
      const Owned<GstTestClock> clock(gst_harness_get_testclock(stereo.left()));
      GstClockID id = nullptr;
      gst_test_clock_wait_for_next_pending_id(clock, &id);
      const GstClockTime deadline = gst_clock_id_get_time(id);
      gst_clock_id_unref(id);
      // The partner may be late by max-skew plus the element's latency, which equals max-skew.
      fail_unless_equals_uint64(deadline, (i * 40 + 20 + 20) * ms);
      fail_unless(gst_harness_crank_single_clock_wait(stereo.left()));
      wait_until([&] { return stereo.number(counter) == i; }, "the frame to be dropped");
    }
    fail_unless(calls <= 2 * 20, "%d calls for 20 frames", calls.load());
    const Map map = stereo.process_at(GST_SECOND);
    fail_unless(map.discont());
  }
}

// A negative duration, which wraps around, must not delay the timeout.
TEST(test_timeout_with_a_wrapped_duration) {
  PlayingStereo stereo;
  GstBuffer* frame = small_frame({40 * ms});
  GST_BUFFER_DURATION(frame) = static_cast<GstClockTime>(-33333333);
  fail_unless_equals_int(gst_harness_push(stereo.left(), frame), GST_FLOW_OK);
  wait_until([&] { return count_waits(stereo) == 1; }, "the element to wait for the clock");
  fail_unless(gst_harness_crank_single_clock_wait(stereo.left()));
  wait_until([&] { return stereo.number("dropped-left") == 1; }, "the frame to be dropped");
  const Owned<GstTestClock> clock(gst_harness_get_testclock(stereo.left()));
  fail_unless_equals_uint64(gst_clock_get_time(GST_CLOCK(clock.get())), (40 + 20 + 20) * ms);
}

// With a max-skew above an hour or extreme times, frames wait forever and without the clock.
TEST(test_no_timeout) {
  begin_to_count();
  for (const auto& [max_skew, time] :
       {std::pair{"9223372036854775807", GstClockTime{0}}, std::pair{"3600000000001", 40 * ms},
        std::pair{"-1", GstClockTime{G_MAXINT64}}, std::pair{"-1", GstClockTime{G_MAXINT64 / 2}}}) {
    StereoHarness stereo(Properties{{"max-skew", max_skew}});
    stereo.accept_gray();
    calls = 0;
    fail_unless_equals_int(gst_harness_push(stereo.left(), small_frame({time})), GST_FLOW_OK);
    let_time_pass(50);  // the element must neither wait for the clock nor be called meanwhile
    fail_unless_equals_int(count_waits(stereo), 0);
    fail_unless_equals_int(calls, 0);
    fail_unless_equals_int(gst_harness_push(stereo.right(), small_frame({time})), GST_FLOW_OK);
    fail_unless_equals_uint64(stereo.pull().pts(), time);
    fail_unless(gst_harness_query_latency(stereo.left()) <= 3600 * GST_SECOND);
  }
}

// If the next frame may be nearer, the element waits for it, at most for max-skew and latency.
TEST(test_timeout_of_a_nearer_partner) {
  for (bool right_is_older : {true, false}) {
    PlayingStereo stereo(Properties{{"max-skew", "100000000"}});
    GstHarness* const older = right_is_older ? stereo.right() : stereo.left();
    GstHarness* const newer = right_is_older ? stereo.left() : stereo.right();
    gst_harness_push(older, small_frame({1000 * ms}));
    gst_harness_push(newer, small_frame({1060 * ms}));
    wait_until([&] { return count_waits(stereo) == 1; }, "the element to wait for the clock");
    fail_unless(gst_harness_try_pull(stereo.left()) == nullptr, "the element did not wait");
    fail_unless(gst_harness_crank_single_clock_wait(stereo.left()));
    fail_unless_equals_uint64(stereo.pull().pts(), (right_is_older ? 1060 : 1000) * ms);
    fail_unless_equals_uint64(stereo.number("dropped-left") + stereo.number("dropped-right"), 0);
    const Owned<GstTestClock> clock(gst_harness_get_testclock(stereo.left()));
    fail_unless_equals_uint64(gst_clock_get_time(GST_CLOCK(clock.get())), 1200 * ms);
  }
}

TEST(test_calls_are_bounded) {
  begin_to_count();
  StereoHarness stereo;
  stereo.accept_gray();
  constexpr int pairs = 100;
  for (int i = 0; i < pairs; ++i)
    stereo.process_at(i * 40 * ms);
  const Owned<GstTestClock> clock(gst_harness_get_testclock(stereo.left()));
  gst_test_clock_advance_time(clock, 100 * GST_SECOND);
  let_time_pass(100);  // the element must not be called meanwhile
  fail_unless(calls <= 2 * pairs, "%d calls for %d pairs", calls.load(), pairs);
}

TEST(test_calls_for_files) {
  begin_to_count();
  run_pipeline(
      "videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=32,height=16 ! queue ! "
      "e.sink_left videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=32,height=16 ! "
      "queue ! e.sink_right cudasgmstereo name=e ! fakesink");
  fail_unless(calls <= 122, "%d calls for 60 pairs", calls.load());
}

// Runs two live sources on a real clock. One source stops early.
TEST(test_live_pipeline) {
  int maps = 0;
  run_pipeline(
      "videotestsrc is-live=true num-buffers=40 ! "
      "video/x-raw,format=GRAY8,width=32,height=16,framerate=50/1 ! e.sink_left "
      "videotestsrc is-live=true num-buffers=20 ! "
      "video/x-raw,format=GRAY8,width=32,height=16,framerate=50/1 ! e.sink_right "
      "cudasgmstereo name=e ! fakesink name=sink sync=true",
      "sink", [&](GstBuffer*) { ++maps; });
  fail_unless(maps >= 15 && maps <= 20, "%d maps", maps);
}

TEST(test_qos) {
  PlayingStereo stereo;
  gst_harness_push_upstream_event(
      stereo.left(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 100 * ms, 100 * ms));
  for (guint i = 1; i <= 5; ++i)
    stereo.push_pair(i * 40 * ms);
  const Map next = stereo.process_at(240 * ms);
  fail_unless_equals_uint64(next.pts(), 240 * ms);
  fail_unless(next.discont(), "no DISCONT after the skipped frames");
  const std::vector<Owned<GstMessage>> messages = stereo.messages().take(GST_MESSAGE_QOS);
  fail_unless_equals_int(messages.size(), 5);
  for (guint i = 0; i < messages.size(); ++i) {
    guint64 running = 0, stream = 0, timestamp = 0, duration = 0, made = 0, skipped = 0;
    gboolean live = TRUE;
    GstFormat format = GST_FORMAT_UNDEFINED;
    gst_message_parse_qos(messages[i], &live, &running, &stream, &timestamp, &duration);
    fail_unless_equals_uint64(timestamp, (i + 1) * 40 * ms);
    fail_unless_equals_uint64(running, timestamp);
    fail_unless_equals_uint64(duration, 40 * ms);
    gst_message_parse_qos_stats(messages[i], &format, &made, &skipped);
    fail_unless_equals_int(format, GST_FORMAT_BUFFERS);
    fail_unless_equals_uint64(made, 1);
    fail_unless_equals_uint64(skipped, i + 1);
  }
  // Skipped pairs do not count as dropped frames.
  fail_unless_equals_uint64(stereo.number("dropped-left"), 0);
  // QOS events also travel upstream.
  expect_upstream_event(stereo.right(), GST_EVENT_QOS);
}

TEST(test_qos_and_flush) {
  PlayingStereo stereo;
  gst_harness_push_upstream_event(
      stereo.left(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND, GST_SECOND));
  stereo.flush();
  stereo.process_at(40 * ms);
}

// If nothing is linked to sink_right, the element waits, and posts one warning after 5 s.
TEST(test_warning) {
  SystemTestClock clock;
  StereoHarness stereo({}, false);
  fail_unless(stereo.send_caps(stereo.left(), gray_caps()));
  gst_harness_push(stereo.left(), gray_frame());
  clock.move_to(5 * GST_SECOND - 1);
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_WARNING), 0);
  clock.move_to(5 * GST_SECOND);
  expect_words(stereo.messages().text(GST_MESSAGE_WARNING),
               {"sink_right", "frame-packing=side-by-side", "frame-packing=top-bottom"});
  clock.move_to(60 * GST_SECOND);
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_WARNING), 1);
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
  fail_unless(gst_harness_try_pull(stereo.left()) == nullptr);
}

// Packed frames, an early stop and two linked pads cause no warning.
TEST(test_no_warning) {
  SystemTestClock clock;
  StereoHarness packed_frames({}, false), stopped({}, false), two;
  fail_unless(packed_frames.send_caps(packed_frames.left(),
                                      caps_of(gray(), 40, 24, ", multiview-mode=side-by-side")));
  fail_unless(stopped.send_caps(stopped.left(), gray_caps()));
  fail_unless(two.send_caps(two.left(), gray_caps()));
  gst_element_set_state(stopped.element(), GST_STATE_READY);
  clock.move_to(60 * GST_SECOND);
  for (StereoHarness* stereo : {&packed_frames, &stopped, &two})
    fail_unless_equals_int(stereo->messages().count(GST_MESSAGE_WARNING), 0);
}

// If a camera ends and the other pad is unlinked, the element posts an error after 5 s.
TEST(test_end_without_a_partner) {
  for (const bool late : {false, true}) {
    SystemTestClock clock;
    StereoHarness stereo({}, false);
    fail_unless(stereo.send_caps(stereo.left(), gray_caps()));
    gst_harness_push(stereo.left(), gray_frame());
    if (late)
      clock.move_to(20 * GST_SECOND);
    gst_harness_push_event(stereo.left(), gst_event_new_eos());
    const GstClockTime end = (late ? 25 : 5) * GST_SECOND;
    clock.move_to(end - 1);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
    clock.move_to(end);
    expect_words(stereo.messages().text(GST_MESSAGE_ERROR),
                 {"at EOS", "nothing is linked to sink_right", "frame-packing=side-by-side"});
    clock.move_to(60 * GST_SECOND);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 1);
    // After the warning about waiting frames, no second warning follows.
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_WARNING), late ? 1 : 0);
  }
}

// The end causes no error if no frame waits, or after a flush, a stop or a late link.
TEST(test_end_that_is_no_error) {
  SystemTestClock clock;
  StereoHarness empty({}, false), flushed({}, false), stopped({}, false), joined({}, false);
  for (StereoHarness* stereo : {&empty, &flushed, &stopped, &joined}) {
    fail_unless(stereo->send_caps(stereo->left(), gray_caps()));
    if (stereo != &empty)
      gst_harness_push(stereo->left(), gray_frame());
    gst_harness_push_event(stereo->left(), gst_event_new_eos());
  }
  empty.expect_end();
  clock.move_to(4 * GST_SECOND);
  flushed.flush();
  gst_element_set_state(stopped.element(), GST_STATE_READY);
  const Owned<GstHarness> right(
      gst_harness_new_with_element(joined.element(), "sink_right", nullptr));
  clock.move_to(60 * GST_SECOND);
  for (StereoHarness* stereo : {&empty, &flushed, &stopped, &joined})
    fail_unless_equals_int(stereo->messages().count(GST_MESSAGE_ERROR), 0);
}
