// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties: what they are, that they may change at any time, and what an impossible set leads to.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/check/common/definition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/propertyfacts.h"

using namespace check;

namespace {

Equalization each_channel() {
  Equalization how;
  how.each_channel = true;
  return how;
}

}  // namespace

GST_START_TEST(test_defaults_and_ranges) {
  GstElement* element = gst_element_factory_make("cudahistequalize", nullptr);
  fail_unless(element != nullptr);
  expect_enum_default(element, "method", "equalize");
  expect_enum_default(element, "channels", "luma");
  expect_enum_nicks(element, "channels", {"luma", "rgb"});

  expect_number(element, "strength", 0, 1, 1);

  gboolean post = TRUE;
  guint64 interval = 1;
  g_object_get(element, "post-messages", &post, "message-interval", &interval, nullptr);
  fail_unless(!post);
  fail_unless_equals_uint64(interval, 0);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_flags) {
  GstElement* element = gst_element_factory_make("cudahistequalize", nullptr);
  for (const char* name : {"channels", "strength", "post-messages", "message-interval"})
    expect_changeable_while_playing(element, name);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_values_read_back) {
  GstElement* element = gst_element_factory_make("cudahistequalize", nullptr);
  for (const auto& [name, value] :
       {std::pair{"channels", "rgb"}, std::pair{"strength", "0.25"},
        std::pair{"post-messages", "true"}, std::pair{"message-interval", "12345678901"}})
    expect_read_back(element, name, value);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_not_a_number) {
  GstElement* element = gst_element_factory_make("cudahistequalize", nullptr);
  expect_no_nan(element, "strength");
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_change_while_playing) {
  const FormatSpec& format = format_named("RGBA");
  FilterHarness filter;
  filter.accept_caps(format, 48, 20, colorimetry(format, false));
  const Picture picture = make_picture(format, 48, 20, Content::natural, 1);
  Equalization half;
  half.strength = 0.5;
  expect_picture(filter.process(picture), equalized(picture, {}), "as started");
  filter.set("channels", "rgb");
  expect_picture(filter.process(picture), equalized(picture, each_channel()), "channels=rgb");
  filter.set("channels", "luma");
  filter.set("strength", "0.5");
  expect_picture(filter.process(picture), equalized(picture, half), "strength=0.5");
  filter.set("strength", "0");
  expect_picture(filter.process(picture), picture, "strength=0");
  filter.set("strength", "1");
  expect_picture(filter.process(picture), equalized(picture, {}), "strength=1");
  fail_unless_equals_int(
      filter.messages().count(static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING)),
      0);
}
GST_END_TEST

// Every frame is made with one setting that was in force, never with parts of two.
GST_START_TEST(test_change_from_another_thread) {
  const FormatSpec& format = format_named("RGBx");
  FilterHarness filter;
  filter.accept_caps(format, 48, 20, colorimetry(format, false));
  const Picture picture = make_picture(format, 48, 20, Content::natural, 1);
  const Picture luma = equalized(picture, {}), each = equalized(picture, each_channel());
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (unsigned i = 0; !stop; ++i)
      filter.set("channels", i % 2 == 0 ? "rgb" : "luma");
  });
  std::string unexpected;
  for (int i = 0; i < 500 && unexpected.empty(); ++i) {
    const Picture out = filter.process(picture);
    if (!difference(out, luma).empty())
      unexpected = difference(out, each);
  }
  stop = true;
  changer.join();
  fail_unless(unexpected.empty(), "neither the one nor the other: %s", unexpected.c_str());
}
GST_END_TEST

GST_START_TEST(test_impossible_while_playing) {
  for (const char* name : {"NV12", "GRAY8", "P010_10LE", "YUY2"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter;
    filter.accept_caps(format, 33, 21, colorimetry(format, false));
    const Picture picture = make_picture(format, 33, 21, Content::natural, 6);
    filter.set("strength", "0.5");
    filter.process(picture);
    filter.set("channels", "rgb");
    Equalization last_valid;
    last_valid.strength = 0.5;
    for (int i = 0; i < 5; ++i)
      expect_picture(filter.process(picture), equalized(picture, last_valid),
                     "the last valid set goes on");
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 0);
    const std::string text = filter.messages().text(GST_MESSAGE_WARNING);
    fail_unless(text.find("channels") != std::string::npos, "no word of channels: %s",
                text.c_str());

    filter.set("channels", "luma");
    filter.set("strength", "1");
    expect_picture(filter.process(picture), equalized(picture, {}), "valid again");
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
  }
}
GST_END_TEST

GST_START_TEST(test_impossible_at_start) {
  for (const char* name : {"NV12", "GRAY8", "GRAY16_LE", "UYVY", "Y444"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter{{"channels", "rgb"}};
    filter.send_caps(caps_of(format, 32, 16, colorimetry(format, false)));
    const GstFlowReturn flow = filter.push(to_buffer(Picture(format, 32, 16)));
    fail_unless(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR, "flow %s",
                gst_flow_get_name(flow));
    // Not exactly one: with the frame the pad offers the refused caps once more.
    fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
    const std::string text = filter.messages().text(GST_MESSAGE_ERROR);
    fail_unless(text.find("channels") != std::string::npos, "no word of channels: %s",
                text.c_str());
    fail_unless(filter.pull() == nullptr);
  }
}
GST_END_TEST

GST_START_TEST(test_impossible_with_new_caps) {
  const FormatSpec &rgb = format_named("BGRx"), &gray = format_named("GRAY8");
  FilterHarness filter{{"channels", "rgb"}};
  filter.accept_caps(rgb, 32, 16, colorimetry(rgb, false));
  const Picture picture = make_picture(rgb, 32, 16, Content::natural, 2);
  expect_picture(filter.process(picture), equalized(picture, each_channel()), "before");
  filter.send_caps(caps_of(gray, 32, 16));
  fail_unless(filter.push(to_buffer(Picture(gray, 32, 16))) != GST_FLOW_OK);
  fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
  const std::string text = filter.messages().text(GST_MESSAGE_ERROR);
  fail_unless(text.find("channels") != std::string::npos, "no word of channels: %s", text.c_str());
}
GST_END_TEST

// A frame whose stream time is at second n gets the value that the curve has at second n, although
// its timestamp and its running time are others.
GST_START_TEST(test_controlled_by_stream_time) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter;
  GstControlSource* curve = gst_interpolation_control_source_new();
  g_object_set(curve, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  constexpr double values[] = {1.0, 0.25, 0.0, 0.5, 0.75};
  for (guint second = 0; second < G_N_ELEMENTS(values); ++second)
    fail_unless(gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(curve),
                                                   second * GST_SECOND, values[second]));
  fail_unless(gst_object_add_control_binding(
      GST_OBJECT(filter.element()),
      gst_direct_control_binding_new_absolute(GST_OBJECT(filter.element()), "strength", curve)));

  filter.accept_caps(format, 40, 24);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.position = 3600 * GST_SECOND;
  segment.base = 77 * GST_SECOND;
  segment.time = 1 * GST_SECOND;
  gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));

  const Picture picture = make_picture(format, 40, 24, Content::natural, 6);
  for (guint i = 0; i < 3; ++i) {
    GstBuffer* in = to_buffer(picture);
    GST_BUFFER_PTS(in) = (3600 + i) * GST_SECOND + 40 * GST_MSECOND;
    GstBuffer* out = filter.process(in);
    Equalization how;
    how.strength = values[1 + i];
    expect_picture(from_buffer(out, format, 40, 24), equalized(picture, how),
                   "second " + std::to_string(1 + i));
    gst_buffer_unref(out);
  }
  gst_object_unref(curve);
}
GST_END_TEST

GST_START_TEST(test_controlled_messages) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter;
  GstControlSource* curve = gst_interpolation_control_source_new();
  g_object_set(curve, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  auto* timed = GST_TIMED_VALUE_CONTROL_SOURCE(curve);
  gst_timed_value_control_source_set(timed, 0, 0.0);
  gst_timed_value_control_source_set(timed, 2 * GST_SECOND, 1.0);
  gst_timed_value_control_source_set(timed, 4 * GST_SECOND, 0.0);
  gst_object_add_control_binding(
      GST_OBJECT(filter.element()),
      gst_direct_control_binding_new(GST_OBJECT(filter.element()), "post-messages", curve));
  filter.accept_caps(format, 40, 24);
  for (guint second = 0; second < 6; ++second) {
    GstBuffer* in = to_buffer(Picture(format, 40, 24));
    GST_BUFFER_PTS(in) = second * GST_SECOND;
    gst_buffer_unref(filter.process(in));
  }
  gst_harness_push_event(filter.harness(), gst_event_new_eos());
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ELEMENT), 2);
  gst_object_unref(curve);
}
GST_END_TEST

static Suite* check_properties_suite() {
  Suite* suite = suite_create("cudahistequalize properties");
  TCase* tc = tcase_create("properties");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_defaults_and_ranges);
  tcase_add_test(tc, test_flags);
  tcase_add_test(tc, test_values_read_back);
  tcase_add_test(tc, test_not_a_number);
  tcase_add_test(tc, test_change_while_playing);
  tcase_add_test(tc, test_change_from_another_thread);
  tcase_add_test(tc, test_impossible_while_playing);
  tcase_add_test(tc, test_impossible_at_start);
  tcase_add_test(tc, test_impossible_with_new_caps);
  tcase_add_test(tc, test_controlled_by_stream_time);
  tcase_add_test(tc, test_controlled_messages);
  return suite;
}

GST_CHECK_MAIN(check_properties)
