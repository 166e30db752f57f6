// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests events, flow returns, buffers and restarts of cudasgmstereo.
#include <gst/video/gstvideometa.h>

#include <atomic>
#include <thread>

#include "tests/check/common/stereoharness.h"

using namespace check;

// The mandatory events come first, in order, and only once.
TEST(test_order_of_events) {
  StereoHarness stereo;
  stereo.accept_gray();
  stereo.process_at(0);
  stereo.process_at(40 * ms);
  std::vector<GstEventType> types;
  while (Owned<GstEvent> event{gst_harness_try_pull_event(stereo.left())})
    types.push_back(GST_EVENT_TYPE(event));
  fail_unless((types == std::vector<GstEventType>{GST_EVENT_STREAM_START, GST_EVENT_CAPS,
                                                  GST_EVENT_SEGMENT}),
              "%d events", static_cast<int>(types.size()));
}

// The output has the left segment, whatever the right one is, and follows each change.
TEST(test_segment_of_the_left) {
  StereoHarness stereo;
  stereo.accept_gray();
  GstSegment segment = new_segment();
  for (int i = 1; i <= 3; ++i) {
    segment.start = static_cast<guint64>(i) * GST_SECOND;
    segment.base = static_cast<guint64>(i) * 10 * GST_SECOND;
    segment.position = segment.start;
    gst_harness_push_event(stereo.left(), gst_event_new_segment(&segment));
    GstSegment other = segment;
    other.start = other.position = 0;  // gives the same running times to other timestamps
    other.time = 5;
    gst_harness_push_event(stereo.right(), gst_event_new_segment(&other));
    const Map map = stereo.process(small_frame({segment.start + 40 * ms}), small_frame({40 * ms}));
    fail_unless_equals_uint64(map.pts(), segment.start + 40 * ms);
    const std::vector<Owned<GstEvent>> events = stereo.take_events(GST_EVENT_SEGMENT);
    fail_unless_equals_int(events.size(), 1);
    GstSegment passed;
    gst_event_copy_segment(events[0], &passed);
    fail_unless(gst_segment_is_equal(&segment, &passed), "segment %d differs", i);
  }
}

// Frames pair by running time, whatever their segments.
TEST(test_pairs_by_running_time) {
  StereoHarness stereo;
  stereo.accept_gray();
  GstSegment segment = new_segment();
  segment.start = segment.time = 100 * GST_SECOND;
  gst_harness_push_event(stereo.right(), gst_event_new_segment(&segment));
  for (int i = 0; i < 4; ++i) {
    const auto time = static_cast<GstClockTime>(i) * 40 * ms;
    fail_unless_equals_uint64(
        stereo.process(small_frame({time}), small_frame({100 * GST_SECOND + time})).pts(), time);
  }
}

TEST(test_other_segment_formats) {
  StereoHarness stereo;
  stereo.accept_gray();
  const GstSegment segment = new_segment(GST_FORMAT_BYTES);
  stereo.send_to_all([&] { return gst_event_new_segment(&segment); });
  stereo.process_at(0);
  // Frames pair in the order of their arrival, whatever their timestamps.
  stereo.process(small_frame({40 * ms}), small_frame({800 * ms}));
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

TEST(test_flush) {
  StereoHarness stereo;
  stereo.accept_gray();
  for (int i = 0; i < 10; ++i) {
    stereo.process_at(0);
    fail_unless(!stereo.process_at(40 * ms).discont());
    const guint32 seqnum = stereo.send_to_all(gst_event_new_flush_start);
    for (GstHarness* harness : {stereo.left(), stereo.right()})
      fail_unless_equals_int(gst_harness_push(harness, small_frame({0})), GST_FLOW_FLUSHING);
    stereo.send_to_all([] { return gst_event_new_flush_stop(TRUE); }, seqnum);
    const GstSegment segment = new_segment();
    stereo.send_to_all([&] { return gst_event_new_segment(&segment); });
    fail_unless(stereo.process_at(0).discont(), "no DISCONT after a flush");
    const std::vector<Owned<GstEvent>> stops = stereo.take_events(GST_EVENT_FLUSH_STOP);
    fail_unless_equals_int(stops.size(), 1);
    fail_unless_equals_int(gst_event_get_seqnum(stops[0]), seqnum);
  }
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

// A flush discards waiting frames without counting them as dropped.
TEST(test_flush_of_waiting_frames) {
  StereoHarness stereo;
  stereo.accept_gray();
  stereo.process_at(0);
  gst_harness_push(stereo.left(), small_frame({40 * ms}));
  stereo.flush();
  fail_unless_equals_uint64(stereo.process_at(80 * ms).pts(), 80 * ms);
  fail_unless_equals_uint64(stereo.number("dropped-left"), 0);
}

TEST(test_frames_after_eos_and_flush) {
  StereoHarness stereo;
  stereo.run(frames_from(0, 2), frames_from(0, 2));
  stereo.flush();
  stereo.process_at(0);
}

// The element must not negotiate after EOS, because those caps would be lost.
TEST(test_caps_after_an_early_end) {
  StereoHarness stereo;
  stereo.accept_gray();
  gst_harness_push_event(stereo.left(), gst_event_new_eos());
  stereo.expect_end();
  gst_harness_push(stereo.right(), small_frame({0}));
  wait_until([&] { return stereo.number("dropped-right") == 1; }, "the right frame to be dropped");
  stereo.flush();
  stereo.process_at(0);
  fail_unless(gst_pad_has_current_caps(stereo.left()->sinkpad), "the map has no caps");
}

TEST(test_frames_after_the_end) {
  StereoHarness stereo;
  stereo.run(frames_from(0, 2), frames_from(0, 2));
  for (GstHarness* harness : {stereo.left(), stereo.right()})
    fail_unless_equals_int(gst_harness_push(harness, small_frame({80 * ms})), GST_FLOW_EOS);
}

// A seek event reaches both cameras.
TEST(test_seek_goes_upstream) {
  StereoHarness stereo;
  stereo.accept_gray();
  stereo.process_at(0);
  gst_harness_push_upstream_event(
      stereo.left(), gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE, GST_SEEK_TYPE_SET,
                                        GST_SECOND, GST_SEEK_TYPE_NONE, 0));
  for (GstHarness* harness : stereo.harnesses())
    expect_upstream_event(harness, GST_EVENT_SEEK);
}

// A map has the times, flags and metas of the left frame.
TEST(test_description) {
  StereoHarness stereo;
  stereo.accept_gray();
  stereo.process_at(0);
  GstBuffer* left = small_frame({GST_SECOND, false, 17 * ms});
  GstBuffer* right = small_frame({GST_SECOND + 2 * ms});
  GST_BUFFER_FLAG_SET(left, GST_BUFFER_FLAG_MARKER);
  GST_BUFFER_FLAG_SET(left, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW);
  GST_BUFFER_FLAG_SET(right, GST_BUFFER_FLAG_CORRUPTED);
  GST_BUFFER_OFFSET(left) = 77;
  gst_buffer_add_video_region_of_interest_meta(left, "face", 1, 2, 3, 4);
  gst_buffer_add_video_region_of_interest_meta(right, "hand", 1, 2, 3, 4);
  const Owned<GstCaps> reference(gst_caps_new_empty_simple("timestamp/x-test"));
  gst_buffer_add_reference_timestamp_meta(left, reference, 5, 6);
  const Map map = stereo.process(left, right);
  fail_unless_equals_uint64(map.pts(), GST_SECOND);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(map), 17 * ms);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET(map), 77);
  fail_unless(GST_BUFFER_FLAG_IS_SET(map.get(), GST_BUFFER_FLAG_MARKER));
  fail_unless(!GST_BUFFER_FLAG_IS_SET(map.get(), GST_BUFFER_FLAG_CORRUPTED));
  fail_unless(!GST_BUFFER_FLAG_IS_SET(map.get(), GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW));
  fail_unless(gst_buffer_get_reference_timestamp_meta(map, nullptr) != nullptr);
  fail_unless_equals_int(
      gst_buffer_get_n_meta(map.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1);
}

// Flow returns of downstream reach upstream.
TEST(test_flow_returns) {
  for (GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_ERROR}) {
    StereoHarness stereo;
    stereo.accept_gray();
    static std::atomic<GstFlowReturn> answer;
    answer = flow;
    gst_pad_set_chain_function(
        stereo.left()->sinkpad, +[](GstPad*, GstObject*, GstBuffer* buffer) -> GstFlowReturn {
          gst_buffer_unref(buffer);
          return answer;
        });
    stereo.push_pair(0);
    GstFlowReturn got = GST_FLOW_OK;
    for (guint i = 1; i < 100 && got == GST_FLOW_OK; ++i) {
      got = gst_harness_push(stereo.left(), small_frame({i * 40 * ms}));
      if (got == GST_FLOW_OK)
        gst_harness_push(stereo.right(), small_frame({i * 40 * ms}));
    }
    fail_unless(got == flow, "%s became %s", gst_flow_get_name(flow), gst_flow_get_name(got));
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
  }
}

TEST(test_short_frame) {
  for (bool left_short : {true, false}) {
    StereoHarness stereo;
    stereo.accept_gray();
    stereo.process_at(0);
    gst_harness_push(left_short ? stereo.left() : stereo.right(),
                     at(40 * ms, gst_buffer_new_allocate(nullptr, 100, nullptr)));
    gst_harness_push(left_short ? stereo.right() : stereo.left(), small_frame({40 * ms}));
    stereo.wait_for_error();
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 1);
    expect_words(stereo.messages().text(GST_MESSAGE_ERROR), {"too small"});
    fail_unless(gst_harness_try_pull(stereo.left()) == nullptr);
  }
}

TEST(test_allocation_queries) {
  StereoHarness stereo;
  stereo.accept_gray();
  stereo.process_at(0);
  for (GstHarness* harness : {stereo.left(), stereo.right()}) {
    const Owned<GstCaps> caps = current_caps(harness->srcpad);
    const Owned<GstQuery> query(gst_query_new_allocation(caps, TRUE));
    fail_unless(gst_pad_peer_query(harness->srcpad, query));
    fail_unless(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));
  }
}

TEST(test_starts_again) {
  StereoHarness stereo;
  for (GstState low : {GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY}) {
    for (GstHarness* harness : {stereo.left(), stereo.right()})
      gst_pad_push_event(harness->srcpad, gst_event_new_stream_start("again"));
    stereo.accept_gray();
    for (GstClockTime time : {0 * ms, 40 * ms, 80 * ms})
      stereo.process_at(time);
    gst_harness_push(stereo.left(), small_frame({120 * ms}));  // still waits when the element stops
    gst_element_set_state(stereo.element(), low);
    gst_element_set_state(stereo.element(), GST_STATE_PLAYING);
    if (low == GST_STATE_PAUSED)
      gst_harness_push(stereo.right(), small_frame({120 * ms})), stereo.pull();
  }
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

// The element can stop at any time, even while a thread is blocked in a full queue.
TEST(test_stops_in_the_middle) {
  for (int i = 0; i < 30; ++i) {
    StereoHarness stereo;
    stereo.accept_gray();
    const auto push_all = [](GstHarness* harness) {
      for (guint n = 0; n < 1000; ++n)
        if (gst_harness_push(harness, small_frame({n * 40 * ms})) != GST_FLOW_OK)
          return;
    };
    std::thread left(push_all, stereo.left()), right(push_all, stereo.right());
    g_usleep(static_cast<gulong>(i) * 700);
    gst_element_set_state(stereo.element(), i % 2 == 0 ? GST_STATE_READY : GST_STATE_NULL);
    left.join();
    right.join();
  }
}
