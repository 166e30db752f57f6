// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties of cudaintegral: what they are, which of them may change at any time and which only
// while nothing runs, and what an impossible set leads to.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "tests/check/common/allocationcount.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/integraldefinition.h"
#include "tests/check/common/propertyfacts.h"

using namespace check;

namespace {

Integral of(Output output) {
  Integral how;
  how.output = output;
  return how;
}

Integral small_denoise() {
  Integral how = of(Output::denoise);
  how.search = 5;
  how.patch = 3;
  how.strength = 60;
  return how;
}

void expect_size(GstElement* element, const char* name, int least, int most, int initially) {
  const GParamSpec* spec = property_of(element, name);
  fail_unless(G_IS_PARAM_SPEC_INT(spec), "%s is no int", name);
  fail_unless_equals_int(G_PARAM_SPEC_INT(spec)->minimum, least);
  fail_unless_equals_int(G_PARAM_SPEC_INT(spec)->maximum, most);
  fail_unless_equals_int(G_PARAM_SPEC_INT(spec)->default_value, initially);
}

/// The words that a user needs to find the way out of an even size.
void expect_remedy(const std::string& text, const std::string& property, int size) {
  for (const std::string& word :
       {property + "=" + std::to_string(size - 1), property + "=" + std::to_string(size + 1)})
    fail_unless(text.find(word) != std::string::npos, "no word of %s: %s", word.c_str(),
                text.c_str());
}

int complaints(FilterHarness& filter) {
  return filter.messages().count(
      static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
}

}  // namespace

GST_START_TEST(test_defaults_and_ranges) {
  GstElement* element = gst_element_factory_make("cudaintegral", nullptr);
  fail_unless(element != nullptr);
  expect_enum_default(element, "output", "sum");
  expect_enum_nicks(element, "output",
                    {"sum", "squared-sum", "tilted-sum", "mean", "stddev", "threshold", "denoise"});
  expect_enum_default(element, "table-layout", "padded");
  expect_enum_nicks(element, "table-layout", {"padded", "same-size"});
  expect_enum_default(element, "element-type", "auto");
  expect_enum_nicks(element, "element-type", {"auto", "uint32", "uint64", "float32", "float64"});
  expect_enum_default(element, "threshold-method", "bradley");
  expect_enum_nicks(element, "threshold-method", {"bradley", "sauvola"});
  expect_number(element, "threshold-ratio", 0, 1, 0.15);
  expect_number(element, "threshold-k", 0, 1, 0.2);
  expect_number(element, "threshold-range", 0, 65535, 0);
  expect_number(element, "denoise-strength", 0, 255, 10);
  expect_size(element, "radius", 0, 65535, 7);
  expect_size(element, "search-size", 1, 101, 21);
  expect_size(element, "patch-size", 1, 31, 7);
  for (const char* name : {"threshold-ratio", "threshold-k", "threshold-range", "denoise-strength"})
    expect_no_nan(element, name);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_flags) {
  GstElement* element = gst_element_factory_make("cudaintegral", nullptr);
  for (const char* name : {"output", "table-layout", "element-type"})
    expect_changeable_when_ready(element, name);
  for (const char* name : {"radius", "threshold-method", "threshold-ratio", "threshold-k",
                           "threshold-range", "search-size", "patch-size", "denoise-strength"})
    expect_changeable_while_playing(element, name);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_values_read_back) {
  GstElement* element = gst_element_factory_make("cudaintegral", nullptr);
  for (const auto& [name, value] :
       {std::pair{"output", "tilted-sum"}, std::pair{"output", "stddev"},
        std::pair{"table-layout", "same-size"}, std::pair{"element-type", "float64"},
        std::pair{"radius", "65535"}, std::pair{"threshold-method", "sauvola"},
        std::pair{"threshold-ratio", "0.25"}, std::pair{"threshold-k", "0.5"},
        std::pair{"threshold-range", "100.5"}, std::pair{"search-size", "101"},
        std::pair{"patch-size", "1"}, std::pair{"denoise-strength", "3.25"}})
    expect_read_back(element, name, value);
  gst_object_unref(element);
}
GST_END_TEST

// What the caps follow from waits for the next start; a stop is a start's other half.
GST_START_TEST(test_output_waits_for_a_start) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = make_picture(format, 40, 30, Content::natural, 1);
  FilterHarness filter("cudaintegral");
  Integral how = of(Output::sum);
  const auto start = [&] {
    filter.accept_caps(format, 40, 30);
    if (how.output == Output::denoise)
      expect_picture(filter.process(picture), denoised(picture, how), how.description());
    else if (is_table(how.output))
      expect_tensor(filter, picture, how);
    else
      expect_gray_picture(filter, picture, how, format);
  };
  start();
  for (const auto& [output, same_size, type] :
       {std::tuple{Output::squared_sum, true, ElementType::float64},
        std::tuple{Output::mean, false, ElementType::automatic},
        std::tuple{Output::denoise, false, ElementType::automatic},
        std::tuple{Output::tilted_sum, false, ElementType::uint64},
        std::tuple{Output::threshold, true, ElementType::uint32}}) {
    Integral next = small_denoise();
    next.output = output;
    next.same_size = same_size;
    next.type = type;
    for (const Property& property : next.properties())
      for (const char* ready : {"output", "table-layout", "element-type"})
        if (std::string(property.first) == ready)
          filter.set(property);
    filter.set("search-size", "5");
    filter.set("patch-size", "3");
    filter.set("denoise-strength", "60");
    how.search = 5;
    how.patch = 3;
    how.strength = 60;
    start();  // new caps are no new start
    gst_harness_push_upstream_event(filter.harness(), gst_event_new_reconfigure());
    start();
    gst_element_set_state(filter.element(), GST_STATE_READY);
    gst_element_set_state(filter.element(), GST_STATE_PLAYING);
    gst_pad_push_event(filter.source_pad(), gst_event_new_stream_start("again"));
    how = next;
    start();
  }
  fail_unless_equals_int(complaints(filter), 0);
}
GST_END_TEST

// Each change is in force with the next frame, and none is missed.
GST_START_TEST(test_change_while_playing) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = make_picture(format, 48, 20, Content::natural, 1);
  FilterHarness threshold("cudaintegral", {{"output", "threshold"}});
  threshold.accept_caps(format, 48, 20, colorimetry(format, false));
  Integral how = of(Output::threshold);
  std::vector<Picture> seen;
  const auto expect = [&](const char* name, const std::string& value) {
    threshold.set(name, value);
    expect_gray_picture(threshold, picture, how, format_named("GRAY8"));
    seen.push_back(gray_picture_of(picture, how, format_named("GRAY8")));
    if (seen.size() > 1)
      fail_unless(!difference(seen.back(), seen[seen.size() - 2]).empty(),
                  "%s=%s changes nothing here", name, value.c_str());
  };
  expect("radius", "7");
  how.radius = 2;
  expect("radius", "2");
  how.ratio = 0.05;
  expect("threshold-ratio", "0.05");
  how.sauvola = true;
  expect("threshold-method", "sauvola");
  how.k = 0.1;
  expect("threshold-k", "0.1");
  how.range = 20;
  expect("threshold-range", "20");
  how.sauvola = false;
  expect("threshold-method", "bradley");
  fail_unless_equals_int(complaints(threshold), 0);

  FilterHarness denoise("cudaintegral", small_denoise().properties());
  denoise.accept_caps(format, 48, 20, colorimetry(format, false));
  how = small_denoise();
  const auto expect_denoised = [&] {
    apply(denoise, how);
    expect_picture(denoise.process(picture), denoised(picture, how), how.description());
  };
  expect_denoised();
  how.search = 9;
  expect_denoised();
  how.patch = 1;
  expect_denoised();
  how.strength = 0;
  expect_denoised();
  how.strength = 33;
  expect_denoised();
  fail_unless_equals_int(complaints(denoise), 0);

  for (Output output : {Output::mean, Output::stddev}) {
    FilterHarness filter("cudaintegral", {{"output", nick_of(output)}});
    filter.accept_caps(format, 48, 20, colorimetry(format, false));
    how = of(output);
    for (int radius : {7, 1, 65535, 0}) {
      how.radius = radius;
      filter.set("radius", std::to_string(radius));
      expect_gray_picture(filter, picture, how, format_named("GRAY8"));
    }
  }
}
GST_END_TEST

// Every frame is made with one radius that was in force, never with parts of two.
GST_START_TEST(test_change_from_another_thread) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = make_picture(format, 48, 20, Content::natural, 1);
  Integral near = of(Output::mean), far = near;
  near.radius = 1;
  far.radius = 9;
  FilterHarness filter("cudaintegral", near.properties());
  filter.accept_caps(format, 48, 20);
  const Picture first = gray_picture_of(picture, near, format),
                second = gray_picture_of(picture, far, format);
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (unsigned i = 0; !stop; ++i)
      filter.set("radius", i % 2 == 0 ? "9" : "1");
  });
  std::string unexpected;
  for (int i = 0; i < 500 && unexpected.empty(); ++i) {
    const Picture out = filter.process(picture);
    if (!difference(out, first).empty())
      unexpected = difference(out, second);
  }
  stop = true;
  changer.join();
  fail_unless(unexpected.empty(), "neither the one nor the other: %s", unexpected.c_str());
}
GST_END_TEST

GST_START_TEST(test_even_size_while_playing) {
  for (const char* name : {"NV12", "GRAY16_LE", "BGRA"}) {
    const FormatSpec& format = format_named(name);
    Integral how = small_denoise();
    FilterHarness filter("cudaintegral", how.properties());
    filter.accept_caps(format, 33, 21, colorimetry(format, false));
    const Picture picture = make_picture(format, 33, 21, Content::natural, 6);
    for (const char* property : {"search-size", "patch-size"}) {
      const Picture last_valid = denoised(picture, how);
      filter.messages().clear();
      filter.set(property, "8");
      // What else is set meanwhile belongs to the impossible set.
      filter.set("denoise-strength", "90");
      for (int i = 0; i < 5; ++i)
        expect_picture(filter.process(picture), last_valid, "the last valid set goes on");
      fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
      fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 0);
      expect_remedy(filter.messages().text(GST_MESSAGE_WARNING), property, 8);

      filter.set(property, "7");
      (std::string(property) == "search-size" ? how.search : how.patch) = 7;
      how.strength = 90;
      expect_picture(filter.process(picture), denoised(picture, how), "valid again");
      fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
    }
  }
}
GST_END_TEST

GST_START_TEST(test_even_size_at_start) {
  for (const char* property : {"search-size", "patch-size"}) {
    const FormatSpec& format = format_named("I420");
    FilterHarness filter("cudaintegral", {{"output", "denoise"}, {property, "6"}});
    filter.send_caps(caps_of(format, 32, 16, colorimetry(format, false)));
    const GstFlowReturn flow = filter.push(to_buffer(Picture(format, 32, 16)));
    fail_unless(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR, "flow %s",
                gst_flow_get_name(flow));
    fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
    expect_remedy(filter.messages().text(GST_MESSAGE_ERROR), property, 6);
    fail_unless(filter.pull() == nullptr);
  }
}
GST_END_TEST

// A size that nobody asks for is nobody's business.
GST_START_TEST(test_even_size_without_denoising) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = make_picture(format, 32, 16, Content::natural, 1);
  for (Output output : {Output::sum, Output::mean, Output::threshold}) {
    FilterHarness filter("cudaintegral", {{"output", nick_of(output)}, {"search-size", "6"}});
    filter.accept_caps(format, 32, 16);
    filter.set("patch-size", "2");
    gst_buffer_unref(filter.process(to_buffer(picture)));
    fail_unless_equals_int(complaints(filter), 0);
  }
}
GST_END_TEST

GST_START_TEST(test_controlled) {
  constexpr int frames = 30;
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = make_picture(format, 40, 24, Content::natural, 6);
  FilterHarness filter("cudaintegral", {{"output", "mean"}});
  GstControlSource* curve = gst_interpolation_control_source_new();
  g_object_set(curve, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
  auto* timed = GST_TIMED_VALUE_CONTROL_SOURCE(curve);
  fail_unless(gst_timed_value_control_source_set(timed, 0, 0));
  fail_unless(gst_timed_value_control_source_set(timed, (frames - 1) * GST_SECOND, frames - 1));
  fail_unless(gst_object_add_control_binding(
      GST_OBJECT(filter.element()),
      gst_direct_control_binding_new_absolute(GST_OBJECT(filter.element()), "radius", curve)));
  filter.accept_caps(format, 40, 24);
  for (int i = 0; i < frames; ++i) {
    GstBuffer* in = to_buffer(picture);
    GST_BUFFER_PTS(in) = static_cast<GstClockTime>(i) * GST_SECOND;
    GstBuffer* out = filter.process(in);
    gint radius = -1;
    g_object_get(filter.element(), "radius", &radius, nullptr);
    fail_unless(radius >= i - 1 && radius <= i, "frame %d has radius=%d", i, radius);
    Integral how = of(Output::mean);
    how.radius = radius;
    expect_picture(from_buffer(out, format, 40, 24), gray_picture_of(picture, how, format),
                   "radius=" + std::to_string(radius));
    gst_buffer_unref(out);
  }
  gst_object_unref(curve);
}
GST_END_TEST

// GStreamer itself allocates for each frame; what is set must not add to that.
GST_START_TEST(test_no_allocation) {
  constexpr int frames = 200;
  const FormatSpec& format = format_named("I420");
  GstBuffer* frame = to_buffer(make_picture(format, 64, 48, Content::natural, 1));
  const auto allocations = [&](FilterHarness& filter, const std::function<void(int)>& change) {
    AllocationCount count;
    for (int i = -20; i < frames; ++i) {  // those below 0 warm up
      GstBuffer* in = gst_buffer_copy(frame);
      change(i + 20);
      if (i >= 0)
        count.start();
      fail_unless_equals_int(filter.push(in), GST_FLOW_OK);
      if (i >= 0)
        count.stop();
      gst_buffer_unref(filter.pull());
    }
    return count.total();
  };
  const auto expect_no_more = [&](const Integral& how, const char* what,
                                  const std::function<void(FilterHarness&, int)>& change) {
    FilterHarness filter("cudaintegral", how.properties());
    filter.accept_caps(format, 64, 48, colorimetry(format, false));
    const long constant = allocations(filter, [](int) {});
    fail_unless(constant >= frames, "allocations are not counted: %ld", constant);
    fail_unless(constant < frames * 40, "%s: %ld allocations for %d frames", what, constant,
                frames);
    const long changing = allocations(filter, [&](int i) { change(filter, i); });
    fail_unless(changing < constant + frames / 4, "%s: %ld allocations instead of %ld", what,
                changing, constant);
  };
  const auto set = [](FilterHarness& filter, const char* name, int value) {
    filter.set(name, std::to_string(value));
  };
  expect_no_more(of(Output::sum), "sum", [](FilterHarness&, int) {});
  for (Output output : {Output::mean, Output::stddev})
    expect_no_more(of(output), "radius",
                   [&](FilterHarness& filter, int i) { set(filter, "radius", i * 37 % 500); });
  expect_no_more(of(Output::threshold), "threshold", [&](FilterHarness& filter, int i) {
    set(filter, "radius", i % 50);
    filter.set("threshold-method", i % 2 == 0 ? "sauvola" : "bradley");
    filter.set("threshold-ratio", std::to_string(0.01 * (i % 100)));
    filter.set("threshold-k", std::to_string(0.01 * (i % 90)));
    set(filter, "threshold-range", i);
  });
  expect_no_more(small_denoise(), "denoise", [&](FilterHarness& filter, int i) {
    set(filter, "search-size", 1 + i % 4 * 2);
    set(filter, "patch-size", 1 + i % 3 * 2);
    set(filter, "denoise-strength", 1 + i % 100);
  });
  gst_buffer_unref(frame);
}
GST_END_TEST

static Suite* check_integral_properties_suite() {
  Suite* suite = suite_create("cudaintegral properties");
  TCase* tc = tcase_create("properties");
  suite_add_tcase(suite, tc);
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, test_defaults_and_ranges);
  tcase_add_test(tc, test_flags);
  tcase_add_test(tc, test_values_read_back);
  tcase_add_test(tc, test_output_waits_for_a_start);
  tcase_add_test(tc, test_change_while_playing);
  tcase_add_test(tc, test_change_from_another_thread);
  tcase_add_test(tc, test_even_size_while_playing);
  tcase_add_test(tc, test_even_size_at_start);
  tcase_add_test(tc, test_even_size_without_denoising);
  tcase_add_test(tc, test_controlled);
  ADD_TEST_UNLESS(tc, test_no_allocation, unless_allocations_count());
  return suite;
}

GST_CHECK_MAIN(check_integral_properties)
