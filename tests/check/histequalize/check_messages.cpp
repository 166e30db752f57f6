// SPDX-License-Identifier: LGPL-2.1-or-later
// The element messages: what they say.
#include "tests/check/common/definition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/histogrammessage.h"

using namespace check;

GST_START_TEST(test_statistics) {
  const FormatSpec& format = formats()[static_cast<std::size_t>(__i__)];
  FilterHarness filter{{"post-messages", "true"}};
  unsigned seed = 0;
  for (Content content : all_contents)
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{37, 23}, std::pair{64, 48}}) {
      filter.accept_caps(format, width, height, colorimetry(format, false));
      const Picture picture = make_picture(format, width, height, content, ++seed);
      push_frame(filter, picture, seed * GST_SECOND);
      gst_harness_push_event(filter.harness(), gst_event_new_eos());
      const std::vector<GstMessage*> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
      fail_unless_equals_int(messages.size(), 1);
      expect_statistics(structure_of(messages[0]), picture);
      gst_message_unref(messages[0]);
      gst_harness_push_event(filter.harness(), gst_event_new_flush_start());
      gst_harness_push_event(filter.harness(), gst_event_new_flush_stop(TRUE));
    }
}
GST_END_TEST

// Large enough for counts beyond 16 bits and for every thread to count.
GST_START_TEST(test_statistics_of_a_large_frame) {
  for (const char* name : {"GRAY8", "RGBx"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter{{"post-messages", "true"}};
    filter.accept_caps(format, 1920, 1081, colorimetry(format, false));
    const Picture picture = make_picture(format, 1920, 1081, Content::two_valued, 3);
    push_frame(filter, picture, 0);
    gst_harness_push_event(filter.harness(), gst_event_new_eos());
    const std::vector<GstMessage*> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
    fail_unless_equals_int(messages.size(), 1);
    expect_statistics(structure_of(messages[0]), picture);
    gst_message_unref(messages[0]);
  }
}
GST_END_TEST

// Before equalisation, and of the luminance, whatever is done to the picture then.
GST_START_TEST(test_histogram_is_of_the_input) {
  const FormatSpec& format = format_named("BGR");
  const Picture picture = make_picture(format, 51, 33, Content::natural, 12);
  for (const char* channels : {"luma", "rgb"})
    for (const char* strength : {"1", "0.5", "0"}) {
      FilterHarness filter{
          {"post-messages", "true"}, {"channels", channels}, {"strength", strength}};
      filter.accept_caps(format, 51, 33, colorimetry(format, false));
      push_frame(filter, picture, 0);
      gst_harness_push_event(filter.harness(), gst_event_new_eos());
      const std::vector<GstMessage*> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
      fail_unless_equals_int(messages.size(), 1);
      expect_statistics(structure_of(messages[0]), picture);
      gst_message_unref(messages[0]);
    }
}
GST_END_TEST

// Counted where the frame is, which on a GPU is CUDA memory, also if nothing else is done to it.
GST_START_TEST(test_statistics_of_a_second_element) {
  const std::string element = "cudahistequalize strength=0 backend=" + test_backend();
  const std::string memory = testing_cuda() ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw";
  GstHarness* harness = new_shared_harness(element + " ! capsfilter caps=\"" + memory + "\" ! " +
                                           element + " post-messages=true");
  gst_harness_set_sink_caps_str(harness, memory.c_str());
  MessageLog messages;
  gst_element_set_bus(harness->element, messages.bus());
  for (const FormatSpec& format : formats()) {
    gst_harness_set_src_caps_str(harness, caps_of(format, 67, 35).c_str());
    const Picture picture = make_picture(format, 67, 35, Content::natural, 4);
    GstBuffer* out = gst_harness_push_and_pull(harness, to_buffer(picture, odd_layout));
    fail_unless(out != nullptr, "%s", format.name);
    gst_buffer_unref(out);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness, gst_event_new_segment(&segment));
    const std::vector<GstMessage*> posted = messages.take(GST_MESSAGE_ELEMENT);
    fail_unless_equals_int(posted.size(), 1);
    expect_statistics(structure_of(posted[0]), picture);
    gst_message_unref(posted[0]);
  }
  gst_element_set_bus(harness->element, nullptr);
  gst_harness_teardown(harness);
}
GST_END_TEST

GST_START_TEST(test_times) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 20, 10);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = 2.0;
  segment.start = segment.position = 100 * GST_SECOND;
  segment.base = 7 * GST_SECOND;
  segment.time = 30 * GST_SECOND;
  gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
  for (guint i = 0; i < 4; ++i)
    push_frame(filter, Picture(format, 20, 10), (100 + i) * GST_SECOND);
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  const std::vector<GstMessage*> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), 4);
  for (guint i = 0; i < 4; ++i) {
    fail_unless(GST_MESSAGE_SRC(messages[i]) == GST_OBJECT(filter.element()));
    const GstStructure* structure = structure_of(messages[i]);
    fail_unless_equals_uint64(time_in(structure, "timestamp"), (100 + i) * GST_SECOND);
    fail_unless_equals_uint64(time_in(structure, "stream-time"), (30 + i) * GST_SECOND);
    fail_unless_equals_uint64(time_in(structure, "running-time"),
                              7 * GST_SECOND + i * GST_SECOND / 2);
    fail_unless_equals_uint64(time_in(structure, "duration"), 20 * GST_MSECOND);
    gst_message_unref(messages[i]);
  }
}
GST_END_TEST

GST_START_TEST(test_frames_without_timestamps) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 20, 10);
  for (int i = 0; i < 3; ++i)
    gst_buffer_unref(filter.process(to_buffer(Picture(format, 20, 10))));
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  const std::vector<GstMessage*> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), 3);
  for (GstMessage* message : messages) {
    for (const char* field : {"timestamp", "stream-time", "running-time", "duration"})
      fail_unless_equals_uint64(time_in(structure_of(message), field), GST_CLOCK_TIME_NONE);
    gst_message_unref(message);
  }
}
GST_END_TEST

static Suite* check_messages_suite() {
  Suite* suite = suite_create("cudahistequalize messages");
  TCase* tc = tcase_create("messages");
  suite_add_tcase(suite, tc);
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, test_statistics, 0, static_cast<int>(formats().size()));
  tcase_add_test(tc, test_statistics_of_a_large_frame);
  tcase_add_test(tc, test_histogram_is_of_the_input);
  tcase_add_test(tc, test_statistics_of_a_second_element);
  tcase_add_test(tc, test_times);
  tcase_add_test(tc, test_frames_without_timestamps);
  return suite;
}

GST_CHECK_MAIN(check_messages)
