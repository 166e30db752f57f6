// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what a filter reports with frames in flight: QoS, latency, position, messages.
#include "tests/check/common/streams/overlap.h"

using namespace check;

namespace {

void send_qos(Overlap& overlap, GstClockTime time) {
  gst_harness_push_upstream_event(overlap.filter().harness(),
                                  gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.0, 0, time));
}

void expect_skipped(Overlap& overlap, guint64 from, guint64 count, guint64 processed) {
  const std::vector<Owned<GstMessage>> messages = overlap.filter().messages().take(GST_MESSAGE_QOS);
  fail_unless_equals_int(messages.size(), count);
  for (guint64 i = 0; i < count; ++i) {
    guint64 timestamp = 0, processed_then = 0, dropped = 0;
    GstFormat format = GST_FORMAT_UNDEFINED;
    gst_message_parse_qos(messages[i], nullptr, nullptr, nullptr, &timestamp, nullptr);
    gst_message_parse_qos_stats(messages[i], &format, &processed_then, &dropped);
    fail_unless_equals_uint64(timestamp, (from + i) * frame_duration);
    fail_unless_equals_int(format, GST_FORMAT_BUFFERS);
    fail_unless_equals_uint64(processed_then, processed);
    fail_unless_equals_uint64(dropped, i + 1);
  }
}

struct Latency {
  gboolean live;
  GstClockTime minimum, maximum;
};
Latency upstream_latency;

Latency query_latency(Overlap& overlap) {
  gst_pad_set_query_function(
      overlap.filter().source_pad(),
      +[](GstPad* pad, GstObject* parent, GstQuery* query) -> gboolean {
        if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
          return gst_pad_query_default(pad, parent, query);
        gst_query_set_latency(query, upstream_latency.live, upstream_latency.minimum,
                              upstream_latency.maximum);
        return TRUE;
      });
  const Owned<GstQuery> query(gst_query_new_latency());
  fail_unless(gst_pad_peer_query(overlap.filter().sink_pad(), query));
  Latency latency{};
  gst_query_parse_latency(query, &latency.live, &latency.minimum, &latency.maximum);
  return latency;
}

}  // namespace

TEST(test_qos, .for_each_element().times(std::size(numbers_in_flight))) {
  Overlap overlap(numbers_in_flight[index]);
  for (guint64 before : {5, 3}) {  // a flush resets the counts
    overlap.receiver().forget();
    overlap.push(0, before);
    send_qos(overlap, (before + 3) * frame_duration);
    overlap.push(before, 4);
    expect_skipped(overlap, before, 4, before);
    // The element must not change a frame that others hold.
    const Owned<GstBuffer> kept(overlap.frame(before + 4));
    fail_unless_equals_int(overlap.filter().push(gst_buffer_ref(kept)), GST_FLOW_OK);
    fail_unless(!GST_BUFFER_FLAG_IS_SET(kept.get(), GST_BUFFER_FLAG_DISCONT));
    overlap.push(before + 5, 3);
    overlap.drain();
    overlap.expect(numbers(0, before) + " " + numbers(before + 4, 4) + " drain");
    const std::vector<Owned<GstBuffer>> frames = overlap.receiver().take_frames();
    for (std::size_t i = 0; i < frames.size(); ++i)
      fail_unless(GST_BUFFER_FLAG_IS_SET(frames[i].get(), GST_BUFFER_FLAG_DISCONT) == (i == before),
                  "frame %d", static_cast<int>(i));
    overlap.filter().flush();
    overlap.filter().send_segment(new_segment());
  }
}

// The maximum latency grows by limit − 1 frame durations, or to NONE if these are unknown.
TEST(test_latency, .for_each_element()) {
  for (guint64 limit : {1, 2, 3, 8}) {
    Overlap overlap(static_cast<int>(limit));
    for (bool live : {false, true}) {
      upstream_latency = {live, 5 * GST_MSECOND, 100 * GST_MSECOND};
      Latency latency = query_latency(overlap);
      fail_unless_equals_int(latency.live, live);
      fail_unless_equals_uint64(latency.minimum, 5 * GST_MSECOND);
      fail_unless_equals_uint64(latency.maximum, 100 * GST_MSECOND + (limit - 1) * frame_duration);
      upstream_latency.maximum = GST_CLOCK_TIME_NONE;
      latency = query_latency(overlap);
      fail_unless_equals_uint64(latency.minimum, 5 * GST_MSECOND);
      fail_unless_equals_uint64(latency.maximum, GST_CLOCK_TIME_NONE);
    }
    upstream_latency = {TRUE, 0, GST_SECOND};
    fail_unless(overlap.filter().send_caps(
        "video/x-raw, format=GRAY8, width=16, height=16, framerate=100/1"));
    fail_unless_equals_uint64(query_latency(overlap).maximum,
                              GST_SECOND + (limit - 1) * 10 * GST_MSECOND);
    fail_unless(overlap.filter().send_caps(
        "video/x-raw, format=GRAY8, width=16, height=16, framerate=0/1"));
    fail_unless_equals_uint64(query_latency(overlap).maximum,
                              limit == 1 ? GST_SECOND : GST_CLOCK_TIME_NONE);
    fail_unless(overlap.filter().send_caps(
        "video/x-raw, format=GRAY8, width=16, height=16, framerate=1/2147483647"));
    fail_unless(query_latency(overlap).maximum >= GST_SECOND);
    gst_element_set_state(overlap.filter().element(), GST_STATE_READY);
    gst_element_set_state(overlap.filter().element(), GST_STATE_PLAYING);
    fail_unless_equals_uint64(query_latency(overlap).maximum,
                              limit == 1 ? GST_SECOND : GST_CLOCK_TIME_NONE);
  }
}

TEST(test_position, .for_each_element().times(std::size(numbers_in_flight))) {
  Overlap overlap(numbers_in_flight[index]);
  for (guint64 frames : {1, 20}) {
    overlap.push(0, frames);
    overlap.drain();
    gint64 position = -1;
    fail_unless(
        gst_pad_peer_query_position(overlap.filter().sink_pad(), GST_FORMAT_TIME, &position));
    fail_unless_equals_int64(position, static_cast<gint64>(frames * frame_duration));
  }
}

TEST(test_messages, .times(std::size(numbers_in_flight))) {
  constexpr guint64 frame_count = 60;
  Overlap overlap(numbers_in_flight[index], {{"post-messages", "true"}});
  FilterHarness& filter = overlap.filter();
  overlap.receiver().set_delay(500);
  std::atomic<int> at_segment{0}, at_eos{0};
  overlap.receiver().on_arrival([&](const std::string& what) {
    if (what == "segment")
      at_segment = filter.messages().count(GST_MESSAGE_ELEMENT);
    if (what == "eos")
      at_eos = filter.messages().count(GST_MESSAGE_ELEMENT);
  });
  overlap.push(0, frame_count / 2);
  filter.send_segment(new_segment());
  overlap.push(frame_count / 2, frame_count / 2);
  filter.send_eos();
  overlap.expect(numbers(0, 30) + " segment " + numbers(30, 30) + " eos");
  fail_unless_equals_int(at_segment, frame_count / 2);
  fail_unless_equals_int(at_eos, frame_count);
  const std::vector<Owned<GstMessage>> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
  for (guint64 i = 0; i < frame_count; ++i)
    fail_unless_equals_uint64(time_in(gst_message_get_structure(messages[i]), "timestamp"),
                              i * frame_duration);
}

// A skipped frame is reported between the messages of its neighbours.
TEST(test_messages_about_skipped_frames, .times(1, std::size(overlaps))) {
  Overlap overlap(overlaps[index], {{"post-messages", "true"}});
  std::string order;
  overlap.filter().messages().on_message([&](GstMessage* message) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT)
      order += "f";
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_QOS)
      order += "q";
  });
  overlap.receiver().close();
  overlap.push(0);
  wait_until([&] { return overlap.receiver().holds_frame(); }, "the first frame");
  overlap.push(1);  // its message follows the push of the first frame
  send_qos(overlap, 2 * frame_duration);
  // Lets the first frame pass once the streaming thread blocks or has pushed all frames.
  const pid_t streaming = this_thread();
  std::thread opener([&] {
    wait_until_blocked(streaming);
    overlap.receiver().open();
  });
  overlap.push(2, 2);
  opener.join();
  overlap.drain();
  fail_unless(order == "ffqf", "%s", order.c_str());
}

TEST(test_discont, .for_each_element().times(std::size(numbers_in_flight))) {
  Overlap overlap(numbers_in_flight[index]);
  for (guint64 i = 0; i < 8; ++i) {
    GstBuffer* const frame = i == 2 ? at(2 * frame_duration, missing_frame()) : overlap.frame(i);
    if (i == 2 || i == 5)
      GST_BUFFER_FLAG_SET(frame, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int(overlap.filter().push(frame), GST_FLOW_OK);
  }
  overlap.drain();
  const std::vector<Owned<GstBuffer>> frames = overlap.receiver().take_frames();
  fail_unless_equals_int(frames.size(), 8);
  for (std::size_t i = 0; i < frames.size(); ++i)
    fail_unless(
        GST_BUFFER_FLAG_IS_SET(frames[i].get(), GST_BUFFER_FLAG_DISCONT) == (i == 2 || i == 5),
        "frame %d", static_cast<int>(i));
}
