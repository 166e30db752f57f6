// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests events, flow returns, latency and QoS.
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

const FormatSpec& gray() {
  return format_named("GRAY8");
}

GstBuffer* frame_at(GstClockTime time) {
  return at(time, to_buffer(make_picture(gray(), 24, 16, Content::natural, 1)));
}

/// Returns the next event of the given type that arrived downstream of the element, or nullptr.
Owned<GstEvent> next_event(FilterHarness& filter, GstEventType type) {
  while (Owned<GstEvent> event{gst_harness_try_pull_event(filter.harness())})
    if (GST_EVENT_TYPE(event) == type)
      return event;
  return nullptr;
}

Owned<GstEvent> expect_event(FilterHarness& filter, GstEventType type) {
  Owned<GstEvent> event = next_event(filter, type);
  fail_unless(event != nullptr, "%s was lost", gst_event_type_get_name(type));
  return event;
}

}  // namespace

// At LOG the element's own debug category has one line for each frame, with its time and what
// happened to it.
TEST(test_debug_log, .for_each_element()) {
  DebugLog log(tested().element);
  FilterHarness filter({tested().working});
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  filter.process(frame_at(40 * GST_MSECOND));
  filter.set(tested().idle);
  filter.process(frame_at(80 * GST_MSECOND));
  const std::vector<std::string> lines = log.lines();
  fail_unless_equals_int(lines.size(), 3);
  expect_words(lines[0], {"0:00:00.000000000", "new frame"});
  expect_words(lines[1], {"0:00:00.040000000", "new frame"});
  expect_words(lines[2], {"0:00:00.080000000", "unchanged"});
  // The caps are one line at INFO.
  const std::vector<std::string> caps = log.lines(GST_LEVEL_INFO);
  fail_unless_equals_int(caps.size(), 1);
  expect_words(caps[0], {"GRAY8", "24", "16"});
}

TEST(test_events_pass, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  while (next_event(filter, GST_EVENT_CAPS)) {
  }

  filter.send_event(gst_event_new_gap(GST_SECOND, 40 * GST_MSECOND));
  GstClockTime time = 0, duration = 0;
  gst_event_parse_gap(expect_event(filter, GST_EVENT_GAP).get(), &time, &duration);
  fail_unless_equals_uint64(time, GST_SECOND);
  fail_unless_equals_uint64(duration, 40 * GST_MSECOND);

  GstSegment segment = new_segment(), passed;
  segment.start = 5 * GST_SECOND;
  segment.time = 2 * GST_SECOND;
  segment.rate = 0.5;
  filter.send_segment(segment);
  gst_event_copy_segment(expect_event(filter, GST_EVENT_SEGMENT).get(), &passed);
  fail_unless(gst_segment_is_equal(&segment, &passed));

  filter.send_event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "a title", nullptr)));
  expect_event(filter, GST_EVENT_TAG);
  filter.send_event(
      gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("own")));
  expect_event(filter, GST_EVENT_CUSTOM_DOWNSTREAM);
  fail_unless(gst_harness_push_event(filter.harness(), gst_event_new_eos()));
  expect_event(filter, GST_EVENT_EOS);
  fail_unless_equals_int(filter.push(frame_at(GST_SECOND)), GST_FLOW_EOS);
}

TEST(test_upstream_events_pass, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  fail_unless(gst_harness_push_upstream_event(
      filter.harness(), gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                           GST_SEEK_TYPE_SET, GST_SECOND, GST_SEEK_TYPE_NONE, 0)));
  expect_upstream_event(filter.harness(), GST_EVENT_SEEK);
}

TEST(test_flush, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  const Picture picture = make_picture(gray(), 24, 16, Content::natural, 1);
  for (int i = 0; i < 20; ++i) {
    filter.process(frame_at(0));
    fail_unless(gst_harness_push_event(filter.harness(), gst_event_new_flush_start()));
    fail_unless_equals_int(filter.push(frame_at(0)), GST_FLOW_FLUSHING);
    fail_unless(gst_harness_push_event(filter.harness(), gst_event_new_flush_stop(TRUE)));
    filter.send_segment(new_segment());
    expect_picture(filter.process(picture), result(picture), "after a flush");
  }
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 0);
}

TEST(test_frames_after_eos_and_flush, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  filter.send_eos();
  filter.flush();
  filter.send_segment(new_segment());
  filter.process(frame_at(0));
}

// Frames of a segment without time are processed, too.
TEST(test_other_segment_formats, .for_each_element()) {
  for (GstFormat format : {GST_FORMAT_BYTES, GST_FORMAT_TIME}) {
    FilterHarness filter(tested().everything);
    filter.accept_caps(gray(), 24, 16);
    filter.send_segment(new_segment(format));
    const Picture picture = make_picture(gray(), 24, 16, Content::natural, 1);
    expect_picture(filter.process(picture), result(picture), gst_format_get_name(format));
    filter.send_eos();
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ELEMENT), tested().messages);
  }
}

// Flow returns of downstream reach upstream.
TEST(test_flow_returns, .for_each_element()) {
  for (GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_FLUSHING, GST_FLOW_NOT_LINKED, GST_FLOW_ERROR,
                             GST_FLOW_CUSTOM_SUCCESS_1, GST_FLOW_OK}) {
    FilterHarness filter;
    filter.accept_caps(gray(), 24, 16);
    static GstFlowReturn answer;
    answer = flow;
    gst_pad_set_chain_function(
        filter.sink_pad(), +[](GstPad*, GstObject*, GstBuffer* buffer) -> GstFlowReturn {
          gst_buffer_unref(buffer);
          return answer;
        });
    const GstFlowReturn got = filter.push(frame_at(0));
    fail_unless(got == flow, "%s became %s", gst_flow_get_name(flow), gst_flow_get_name(got));
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 0);
  }
}

// An empty buffer with the GAP flag represents a missing frame and is not an error.
TEST(test_missing_frame_passes, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  const Owned<GstBuffer> out = filter.process(at(GST_SECOND, missing_frame()));
  fail_unless_equals_int(gst_buffer_get_size(out), 0);
  fail_unless(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), GST_SECOND);
  filter.process(frame_at(2 * GST_SECOND));
}

// The element pushes every frame before it accepts the next one.
TEST(test_no_latency, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  gst_harness_set_upstream_latency(filter.harness(), 5 * GST_MSECOND);
  fail_unless_equals_uint64(gst_harness_query_latency(filter.harness()), 5 * GST_MSECOND);
}

TEST(test_as_many_out_as_in, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  for (guint i = 0; i < 300; ++i)
    fail_unless_equals_int(filter.push(frame_at(i * GST_MSECOND)), GST_FLOW_OK);
  for (guint i = 0; i < 300; ++i) {
    const Owned<GstBuffer> out = filter.pull();
    fail_unless(out != nullptr && GST_BUFFER_PTS(out) == i * GST_MSECOND);
  }
  fail_unless(filter.pull() == nullptr);
}

// When downstream is late, the element skips late frames and announces each by a QoS message.
TEST(test_qos_is_announced, .for_each_element()) {
  FilterHarness filter{{"qos", "true"}};
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  fail_unless(gst_harness_push_upstream_event(
      filter.harness(),
      gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 100 * GST_MSECOND, 100 * GST_MSECOND)));
  guint out_count = 0;
  bool discont_after_drop = false, dropped = false;
  constexpr guint pushed = 20;
  for (guint i = 1; i <= pushed; ++i) {
    fail_unless_equals_int(filter.push(frame_at(i * 40 * GST_MSECOND)), GST_FLOW_OK);
    const Owned<GstBuffer> out = filter.pull();
    if (out == nullptr) {
      dropped = true;
      continue;
    }
    if (out_count == 0)
      discont_after_drop = GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT);
    ++out_count;
  }
  fail_unless(dropped, "no frame was skipped; is QoS enabled?");
  fail_unless(discont_after_drop, "no DISCONT after the skipped frames");
  const std::vector<Owned<GstMessage>> messages = filter.messages().take(GST_MESSAGE_QOS);
  fail_unless_equals_int(messages.size(), pushed - out_count);
  for (guint i = 0; i < messages.size(); ++i) {
    guint64 timestamp = 0;
    gst_message_parse_qos(messages[i], nullptr, nullptr, nullptr, &timestamp, nullptr);
    fail_unless_equals_uint64(timestamp, (i + 1) * 40 * GST_MSECOND);
  }
}

TEST(test_qos_is_on, .for_each_element()) {
  const Owned<GstElement> element = new_element(tested().element);
  gboolean qos = FALSE;
  g_object_get(element, "qos", &qos, nullptr);
  fail_unless(qos);
}
