// SPDX-License-Identifier: LGPL-2.1-or-later
// The element messages: which frames have one, in which order, and by when it must be posted.
#include "tests/check/common/definition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/histogrammessage.h"

using namespace check;

namespace {

/// Counts the messages that have been posted when an event of one type arrives downstream.
struct CountAtEvent {
  FilterHarness& filter;
  GstEventType type;
  std::vector<int> counts;

  CountAtEvent(FilterHarness& f, GstEventType t) : filter(f), type(t) {
    gst_pad_add_probe(f.sink_pad(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, this, nullptr);
  }
  static GstPadProbeReturn on_event(GstPad*, GstPadProbeInfo* info, gpointer self) {
    auto* counter = static_cast<CountAtEvent*>(self);
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == counter->type)
      counter->counts.push_back(counter->filter.messages().count(GST_MESSAGE_ELEMENT));
    return GST_PAD_PROBE_OK;
  }
};

}  // namespace

GST_START_TEST(test_off_by_default) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter;
  filter.accept_caps(format, 20, 10);
  push_frame(filter, Picture(format, 20, 10), 0);
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ELEMENT), 0);
}
GST_END_TEST

GST_START_TEST(test_switched_while_playing) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter;
  filter.accept_caps(format, 20, 10);
  for (guint i = 0; i < 12; ++i) {
    filter.set("post-messages", i / 4 == 1 ? "true" : "false");
    push_frame(filter, Picture(format, 20, 10), i);
  }
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  fail_unless((take_timestamps(filter) == std::vector<guint64>{4, 5, 6, 7}));
}
GST_END_TEST

GST_START_TEST(test_frame_order) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 20, 10, colorimetry(format, false));
  std::vector<guint64> expected;
  for (guint i = 0; i < 200; ++i) {
    push_frame(filter, make_picture(format, 20, 10, Content::flat, i), i * GST_MSECOND);
    expected.push_back(i * GST_MSECOND);
  }
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  const std::vector<GstMessage*> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), expected.size());
  for (guint i = 0; i < messages.size(); ++i) {
    fail_unless_equals_uint64(time_in(structure_of(messages[i]), "timestamp"), expected[i]);
    expect_statistics(structure_of(messages[i]), make_picture(format, 20, 10, Content::flat, i));
    gst_message_unref(messages[i]);
  }
}
GST_END_TEST

// One message for each 100 ms of running time, which at rate 2 is 200 ms of timestamps.
GST_START_TEST(test_interval) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}, {"message-interval", "100000000"}};
  filter.accept_caps(format, 20, 10);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = 2.0;
  gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
  for (guint i = 0; i < 51; ++i)
    push_frame(filter, Picture(format, 20, 10), i * 20 * GST_MSECOND);
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  fail_unless((take_timestamps(filter) ==
               std::vector<guint64>{0, 200 * GST_MSECOND, 400 * GST_MSECOND, 600 * GST_MSECOND,
                                    800 * GST_MSECOND, 1000 * GST_MSECOND}));
}
GST_END_TEST

// A new interval begins with the next frame.
GST_START_TEST(test_interval_changed_while_playing) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 20, 10);
  for (guint i = 0; i < 10; ++i) {
    if (i == 3)
      filter.set("message-interval", "5000000000");
    push_frame(filter, Picture(format, 20, 10), i * GST_SECOND);
  }
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  fail_unless((take_timestamps(filter) == std::vector<guint64>{0, GST_SECOND, 2 * GST_SECOND,
                                                               3 * GST_SECOND, 8 * GST_SECOND}));
}
GST_END_TEST

GST_START_TEST(test_posted_before_eos) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 320, 200);
  CountAtEvent at_eos(filter, GST_EVENT_EOS);
  for (guint i = 0; i < 7; ++i)
    push_frame(filter, Picture(format, 320, 200), i);
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  fail_unless((at_eos.counts == std::vector<int>{7}));
}
GST_END_TEST

GST_START_TEST(test_posted_before_caps) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 320, 200);
  push_frame(filter, Picture(format, 320, 200), 0);
  push_frame(filter, Picture(format, 320, 200), 1);
  CountAtEvent at_caps(filter, GST_EVENT_CAPS);
  filter.accept_caps(format, 16, 8);
  push_frame(filter, Picture(format, 16, 8), 2);
  fail_unless(at_caps.counts.size() >= 1 && at_caps.counts[0] == 2,
              "not both frames' messages were posted before the caps");
}
GST_END_TEST

GST_START_TEST(test_posted_before_segment) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 320, 200);
  push_frame(filter, Picture(format, 320, 200), 0);
  push_frame(filter, Picture(format, 320, 200), 1);
  CountAtEvent at_segment(filter, GST_EVENT_SEGMENT);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = 5;
  gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
  fail_unless((at_segment.counts == std::vector<int>{2}));
}
GST_END_TEST

GST_START_TEST(test_posted_before_stop) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 320, 200);
  for (guint i = 0; i < 5; ++i)
    push_frame(filter, Picture(format, 320, 200), i);
  gst_element_set_state(filter.element(), GST_STATE_READY);
  fail_unless((take_timestamps(filter) == std::vector<guint64>{0, 1, 2, 3, 4}));
}
GST_END_TEST

// Not only at the end: at the latest with the next frame.
GST_START_TEST(test_posted_in_time) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 320, 200);
  for (guint i = 0; i < 10; ++i) {
    push_frame(filter, Picture(format, 320, 200), i);
    const int posted = filter.messages().count(GST_MESSAGE_ELEMENT);
    fail_unless(posted >= static_cast<int>(i), "%d messages after %u frames", posted, i + 1);
  }
}
GST_END_TEST

// After a flush nothing is told of what came before it, and the interval begins anew.
GST_START_TEST(test_discarded_by_flush) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}, {"message-interval", "1000000000"}};
  filter.accept_caps(format, 320, 200);
  for (guint i = 0; i < 3; ++i)
    push_frame(filter, Picture(format, 320, 200), i * GST_SECOND);
  gst_harness_push_event(filter.harness(), gst_event_new_flush_start());
  gst_harness_push_event(filter.harness(), gst_event_new_flush_stop(TRUE));
  filter.messages().clear();
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
  push_frame(filter, Picture(format, 320, 200), 2500 * GST_MSECOND);
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  fail_unless((take_timestamps(filter) == std::vector<guint64>{2500 * GST_MSECOND}));
}
GST_END_TEST

static Suite* check_message_times_suite() {
  Suite* suite = suite_create("cudahistequalize message times");
  TCase* tc = tcase_create("messages");
  suite_add_tcase(suite, tc);
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, test_off_by_default);
  tcase_add_test(tc, test_switched_while_playing);
  tcase_add_test(tc, test_frame_order);
  tcase_add_test(tc, test_interval);
  tcase_add_test(tc, test_interval_changed_while_playing);
  tcase_add_test(tc, test_posted_before_eos);
  tcase_add_test(tc, test_posted_before_caps);
  tcase_add_test(tc, test_posted_before_segment);
  tcase_add_test(tc, test_posted_before_stop);
  tcase_add_test(tc, test_posted_in_time);
  tcase_add_test(tc, test_discarded_by_flush);
  return suite;
}

GST_CHECK_MAIN(check_message_times)
