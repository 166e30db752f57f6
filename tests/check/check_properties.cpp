// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties: what they are, that they may change at any time, and what an impossible set leads to.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "definition.h"
#include "filterharness.h"

using namespace check;

namespace {

const GParamSpec* property_of(GstElement* element, const char* name) {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  fail_unless(spec != nullptr, "no property %s", name);
  return spec;
}

void expect_enum_default(GstElement* element, const char* name, const char* nick) {
  const GParamSpec* spec = property_of(element, name);
  fail_unless(G_IS_PARAM_SPEC_ENUM(spec), "%s is no enum", name);
  const auto* as_enum = G_PARAM_SPEC_ENUM(spec);
  const GEnumValue* value = g_enum_get_value(as_enum->enum_class, as_enum->default_value);
  fail_unless_equals_string(value->value_nick, nick);
}

void expect_enum_nicks(GstElement* element, const char* name,
                       const std::vector<std::string>& expected) {
  const auto* spec = G_PARAM_SPEC_ENUM(property_of(element, name));
  std::vector<std::string> nicks;
  for (guint i = 0; i < spec->enum_class->n_values; ++i)
    nicks.push_back(spec->enum_class->values[i].value_nick);
  fail_unless(nicks == expected, "%s has other values than documented", name);
}

std::string enum_nick(GstElement* element, const char* name) {
  gint number = 0;
  g_object_get(element, name, &number, nullptr);
  const auto* spec = G_PARAM_SPEC_ENUM(property_of(element, name));
  return g_enum_get_value(spec->enum_class, number)->value_nick;
}

constexpr int mutability = GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_READY |
                           GST_PARAM_MUTABLE_PAUSED | GST_PARAM_MUTABLE_PLAYING;

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
  expect_enum_default(element, "backend", "auto");
  expect_enum_nicks(element, "backend", {"auto", "cuda", "cpu"});
  expect_enum_nicks(element, "active-backend", {"none", "cpu", "cuda"});
  fail_unless(enum_nick(element, "active-backend") == "none");

  GValue strength = G_VALUE_INIT, as_double = G_VALUE_INIT;
  const GParamSpec* spec = property_of(element, "strength");
  fail_unless(G_IS_PARAM_SPEC_DOUBLE(spec) || G_IS_PARAM_SPEC_FLOAT(spec));
  g_value_init(&as_double, G_TYPE_DOUBLE);
  g_value_init(&strength, spec->value_type);
  g_value_transform(g_param_spec_get_default_value(const_cast<GParamSpec*>(spec)), &as_double);
  fail_unless_equals_float(g_value_get_double(&as_double), 1.0);
  for (const auto& [outside, inside] : {std::pair{1.5, 1.0}, std::pair{-0.5, 0.0}}) {
    g_value_set_double(&as_double, outside);
    g_value_transform(&as_double, &strength);
    fail_unless(g_param_value_validate(const_cast<GParamSpec*>(spec), &strength),
                "strength accepts %f", outside);
    g_value_transform(&strength, &as_double);
    fail_unless_equals_float(g_value_get_double(&as_double), inside);
  }

  gboolean post = TRUE;
  guint64 interval = 1;
  gint device = 0;
  g_object_get(element, "post-messages", &post, "message-interval", &interval, "cuda-device-id",
               &device, nullptr);
  fail_unless(!post);
  fail_unless_equals_uint64(interval, 0);
  fail_unless_equals_int(device, -1);
  fail_unless_equals_int(G_PARAM_SPEC_INT(property_of(element, "cuda-device-id"))->minimum, -1);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_flags) {
  GstElement* element = gst_element_factory_make("cudahistequalize", nullptr);
  for (const char* name : {"channels", "strength", "post-messages", "message-interval"})
    fail_unless_equals_int_hex(property_of(element, name)->flags & mutability,
                               GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING);
  for (const char* name : {"backend", "cuda-device-id"})
    fail_unless_equals_int_hex(property_of(element, name)->flags & mutability,
                               GST_PARAM_MUTABLE_READY);
  fail_unless_equals_int(property_of(element, "active-backend")->flags & G_PARAM_READWRITE,
                         G_PARAM_READABLE);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_values_read_back) {
  GstElement* element = gst_element_factory_make("cudahistequalize", nullptr);
  for (const auto& [name, value] :
       {std::pair{"channels", "rgb"}, std::pair{"strength", "0.25"},
        std::pair{"post-messages", "true"}, std::pair{"message-interval", "12345678901"},
        std::pair{"backend", "cpu"}, std::pair{"cuda-device-id", "3"}}) {
    gst_util_set_object_arg(G_OBJECT(element), name, value);
    GValue set = G_VALUE_INIT, expected = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(element), name, &set);
    g_value_init(&expected, G_VALUE_TYPE(&set));
    fail_unless(gst_value_deserialize(&expected, value));
    fail_unless_equals_int(gst_value_compare(&set, &expected), GST_VALUE_EQUAL);
    g_value_unset(&set);
    g_value_unset(&expected);
  }
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_change_while_playing) {
  const FormatFacts& format = format_named("RGBA");
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
  const FormatFacts& format = format_named("RGBx");
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
    const FormatFacts& format = format_named(name);
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
    const FormatFacts& format = format_named(name);
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
  const FormatFacts &rgb = format_named("BGRx"), &gray = format_named("GRAY8");
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
  const FormatFacts& format = format_named("GRAY8");
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
  const FormatFacts& format = format_named("GRAY8");
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

GST_START_TEST(test_active_backend) {
  GstElement* element = make_element("cudahistequalize");
  std::vector<std::string> seen;
  const auto on_notify = +[](GstElement* self, GParamSpec*, gpointer list) {
    static_cast<std::vector<std::string>*>(list)->push_back(enum_nick(self, "active-backend"));
  };
  g_signal_connect(element, "notify::active-backend", G_CALLBACK(on_notify), &seen);
  for (int cycle = 0; cycle < 3; ++cycle) {
    seen.clear();
    fail_unless(enum_nick(element, "active-backend") == "none");
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PLAYING),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless(enum_nick(element, "active-backend") == test_backend());
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_NULL),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless(enum_nick(element, "active-backend") == "none");
    fail_unless((seen == std::vector<std::string>{test_backend(), "none"}), "notified %d times",
                static_cast<int>(seen.size()));
  }
  gst_object_unref(element);
}
GST_END_TEST

static Suite* check_properties_suite() {
  Suite* suite = suite_create("cudahistequalize properties");
  TCase* tc = tcase_create("properties");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_defaults_and_ranges);
  tcase_add_test(tc, test_flags);
  tcase_add_test(tc, test_values_read_back);
  tcase_add_test(tc, test_change_while_playing);
  tcase_add_test(tc, test_change_from_another_thread);
  tcase_add_test(tc, test_impossible_while_playing);
  tcase_add_test(tc, test_impossible_at_start);
  tcase_add_test(tc, test_impossible_with_new_caps);
  tcase_add_test(tc, test_controlled_by_stream_time);
  tcase_add_test(tc, test_controlled_messages);
  tcase_add_test(tc, test_active_backend);
  return suite;
}

GST_CHECK_MAIN(check_properties)
