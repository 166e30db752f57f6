// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties of cudasgmstereo: what they are, what it reports, and what an impossible set leads to
// at the start.
#include <gst/video/video.h>

#include <algorithm>

#include "tests/check/common/propertyfacts.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

GstElement* new_element() {
  GstElement* element = gst_element_factory_make("cudasgmstereo", nullptr);
  fail_unless(element != nullptr);
  return element;
}

const std::vector<const char*> when_ready = {"output",        "frame-packing", "num-disparities",
                                             "min-disparity", "paths",         "census",
                                             "compatibility"};
const std::vector<const char*> while_playing = {
    "p1",           "p2",          "adaptive-p2",  "uniqueness",    "subpixel",
    "median",       "lr-max-diff", "speckle-size", "speckle-range", "fill-holes",
    "focal-length", "baseline",    "depth-unit",   "colormap",      "max-skew"};
const std::vector<const char*> reports = {"invalid-value", "disparity-scale", "dropped-left",
                                          "dropped-right"};

void expect_int(GstElement* element, const char* name, int least, int most, int initially) {
  const GParamSpec* spec = property_of(element, name);
  fail_unless(G_IS_PARAM_SPEC_INT(spec), "%s is no int", name);
  fail_unless_equals_int(G_PARAM_SPEC_INT(spec)->minimum, least);
  fail_unless_equals_int(G_PARAM_SPEC_INT(spec)->maximum, most);
  fail_unless_equals_int(G_PARAM_SPEC_INT(spec)->default_value, initially);
}

void expect_bool(GstElement* element, const char* name, bool initially) {
  const GParamSpec* spec = property_of(element, name);
  fail_unless(G_IS_PARAM_SPEC_BOOLEAN(spec), "%s is no boolean", name);
  fail_unless_equals_int(G_PARAM_SPEC_BOOLEAN(spec)->default_value, initially);
}

void expect_value(GstElement* element, const char* name, int expected) {
  GValue value = G_VALUE_INIT, wide = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), name, &value);
  g_value_init(&wide, G_TYPE_INT64);
  fail_unless(g_value_transform(&value, &wide));
  fail_unless(g_value_get_int64(&wide) == expected, "%s is %d instead of %d", name,
              static_cast<int>(g_value_get_int64(&wide)), expected);
  g_value_unset(&value);
  g_value_unset(&wide);
}

struct Impossible {
  Properties properties;
  std::vector<const char*> words;  ///< without which nobody finds the way out
};

const std::vector<Impossible>& impossible_sets() {
  static const std::vector<Impossible> list = {
      {{{"p1", "120"}}, {"p1", "p2", "120"}},
      {{{"p1", "200"}}, {"p1", "p2", "120"}},
      {{{"p2", "225"}}, {"p2", "224"}},
      {{{"census", "neighbours-9x7"}, {"p2", "194"}}, {"p2", "193"}},
      {{{"census", "neighbours-5x5"}, {"p2", "232"}}, {"p2", "231"}},
      {{{"num-disparities", "100"}}, {"num-disparities", "32"}},
      {{{"min-disparity", "2000"}}, {"min-disparity", "num-disparities"}},
      {{{"paths", "6"}}, {"paths", "4", "8"}},
      {{{"compatibility", "libsgm"}, {"census", "neighbours-5x5"}}, {"census", "symmetric-9x7"}},
      {{{"output", "depth"}}, {"focal-length", "baseline"}},
      {{{"output", "depth"}, {"focal-length", "500"}}, {"baseline", "mm"}},
      {{{"output", "depth"}, {"baseline", "100"}}, {"focal-length", "pixels"}},
  };
  return list;
}

void expect_words(const std::string& text, const Impossible& set) {
  for (const char* word : set.words)
    fail_unless(text.find(word) != std::string::npos, "no word of %s: %s", word, text.c_str());
}

}  // namespace

GST_START_TEST(test_defaults_and_ranges) {
  GstElement* element = new_element();
  expect_int(element, "num-disparities", 32, 1024, 128);
  expect_int(element, "min-disparity", -2047, 2015, 0);
  expect_int(element, "p1", 1, 254, 10);
  expect_int(element, "p2", 2, 255, 120);
  expect_int(element, "paths", 4, 8, 8);
  expect_int(element, "lr-max-diff", -1, 1024, 1);
  expect_int(element, "speckle-size", 0, G_MAXINT, 0);
  expect_int(element, "speckle-range", 0, 1024, 1);
  for (const char* name : {"subpixel", "median", "adaptive-p2"})
    expect_bool(element, name, true);
  expect_bool(element, "fill-holes", false);
  expect_number(element, "uniqueness", 0, 1, 0.95);
  expect_number(element, "focal-length", 0, 1e6, 0);
  expect_number(element, "baseline", 0, 1e6, 0);
  expect_number(element, "depth-unit", 0.001, 1e6, 1);
  for (const char* name : {"uniqueness", "focal-length", "baseline", "depth-unit"})
    expect_no_nan(element, name);
  expect_enum_default(element, "output", "disparity");
  expect_enum_nicks(element, "output", {"disparity", "depth", "confidence"});
  expect_enum_default(element, "census", "symmetric-9x7");
  expect_enum_nicks(element, "census", {"symmetric-9x7", "neighbours-9x7", "neighbours-5x5"});
  expect_enum_default(element, "compatibility", "none");
  expect_enum_nicks(element, "compatibility", {"none", "libsgm"});
  expect_enum_default(element, "colormap", "turbo");
  expect_enum_nicks(element, "colormap", {"turbo", "jet", "gray"});
  expect_enum_default(element, "frame-packing", "none");
  fail_unless(property_of(element, "frame-packing")->value_type ==
              GST_TYPE_VIDEO_MULTIVIEW_FRAME_PACKING);
  const GParamSpec* skew = property_of(element, "max-skew");
  fail_unless(G_IS_PARAM_SPEC_INT64(skew) && G_PARAM_SPEC_INT64(skew)->minimum == -1 &&
              G_PARAM_SPEC_INT64(skew)->default_value == -1);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_flags) {
  GstElement* element = new_element();
  for (const char* name : when_ready)
    expect_changeable_when_ready(element, name);
  for (const char* name : while_playing)
    expect_changeable_while_playing(element, name);
  for (const char* name : reports)
    fail_unless_equals_int(property_of(element, name)->flags & G_PARAM_READWRITE, G_PARAM_READABLE);
  for (const char* name : {"backend", "cuda-device-id"})
    expect_changeable_when_ready(element, name);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_values_read_back) {
  GstElement* element = new_element();
  for (const auto& [name, value] : {std::pair{"output", "depth"},
                                    std::pair{"frame-packing", "top-bottom"},
                                    std::pair{"num-disparities", "1024"},
                                    std::pair{"min-disparity", "-2047"},
                                    std::pair{"paths", "4"},
                                    std::pair{"census", "neighbours-9x7"},
                                    std::pair{"compatibility", "libsgm"},
                                    std::pair{"p1", "254"},
                                    std::pair{"p2", "255"},
                                    std::pair{"adaptive-p2", "false"},
                                    std::pair{"uniqueness", "0.5"},
                                    std::pair{"subpixel", "false"},
                                    std::pair{"median", "false"},
                                    std::pair{"lr-max-diff", "-1"},
                                    std::pair{"speckle-size", "2147483647"},
                                    std::pair{"speckle-range", "0"},
                                    std::pair{"fill-holes", "true"},
                                    std::pair{"focal-length", "712.5"},
                                    std::pair{"baseline", "63.25"},
                                    std::pair{"depth-unit", "0.25"},
                                    std::pair{"colormap", "jet"},
                                    std::pair{"max-skew", "9223372036854775807"},
                                    std::pair{"backend", "cpu"},
                                    std::pair{"cuda-device-id", "2"}})
    expect_read_back(element, name, value);
  gst_object_unref(element);
}
GST_END_TEST

// What the samples of a map mean, before it is made.
GST_START_TEST(test_scale_and_invalid_value) {
  GstElement* element = new_element();
  const auto expect = [&](int scale, int invalid) {
    expect_value(element, "disparity-scale", scale);
    expect_value(element, "invalid-value", invalid);
  };
  const auto set = [&](const char* name, const char* value) {
    gst_util_set_object_arg(G_OBJECT(element), name, value);
  };
  std::vector<std::string> notified;
  const auto on_notify = +[](GObject*, GParamSpec* spec, gpointer list) {
    static_cast<std::vector<std::string>*>(list)->push_back(spec->name);
  };
  for (const char* signal : {"notify::invalid-value", "notify::disparity-scale"})
    g_signal_connect(element, signal, G_CALLBACK(on_notify), &notified);
  expect(16, 65520);
  set("min-disparity", "1");
  expect(16, 0);
  set("min-disparity", "10");
  expect(16, 144);
  set("min-disparity", "-2047");
  expect(16, 65536 - 2048 * 16);
  fail_unless((notified == std::vector<std::string>(3, "invalid-value")));
  set("min-disparity", "0");
  set("subpixel", "false");
  expect(16, 65520);
  notified.clear();
  set("compatibility", "libsgm");
  expect(1, 65535);
  std::sort(notified.begin(), notified.end());
  fail_unless((notified == std::vector<std::string>{"disparity-scale", "invalid-value"}));
  set("min-disparity", "-3");
  expect(1, 65532);
  set("subpixel", "true");
  expect(16, 65536 - 64);
  set("p1", "3");
  fail_unless_equals_int(notified.size(), 5);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_impossible_at_start) {
  const Impossible& set = impossible_sets()[static_cast<std::size_t>(__i__)];
  MessageLog messages;
  GstElement* element = make_element("cudasgmstereo", set.properties);
  gst_object_ref_sink(element);
  gst_element_set_bus(element, messages.bus());
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PLAYING),
                         GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(messages.count(GST_MESSAGE_ERROR), 1);
  expect_words(messages.text(GST_MESSAGE_ERROR), set);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, nullptr);
  gst_object_unref(element);
}
GST_END_TEST

static Suite* check_stereo_properties_suite() {
  Suite* suite = suite_create("stereo properties");
  TCase* tc = tcase_create("properties");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_defaults_and_ranges);
  tcase_add_test(tc, test_flags);
  tcase_add_test(tc, test_values_read_back);
  tcase_add_test(tc, test_scale_and_invalid_value);
  tcase_add_loop_test(tc, test_impossible_at_start, 0, static_cast<int>(impossible_sets().size()));
  return suite;
}

GST_CHECK_MAIN(check_stereo_properties)
