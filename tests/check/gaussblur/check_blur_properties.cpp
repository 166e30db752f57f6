// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties of cudagaussblur: what they are, that they may change at any time, and what an
// impossible set leads to.
#include <atomic>
#include <thread>

#include "tests/check/common/blurdefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/propertyfacts.h"

using namespace check;

namespace {

Blur of_sigma(double sigma) {
  Blur how;
  how.sigma = sigma;
  return how;
}

/// The words that a user needs to find the way out of an even kernel size.
void expect_remedy(const std::string& text, const std::string& property, int size) {
  for (const std::string& word : {property, std::to_string(size - 1), std::to_string(size + 1)})
    fail_unless(text.find(word) != std::string::npos, "no word of %s: %s", word.c_str(),
                text.c_str());
}

/// What comes out while the settings are impossible is made with the last valid ones; one warning
/// says so.
void expect_last_valid(FilterHarness& filter, const Picture& picture, const Blur& last_valid,
                       const std::string& property, int size) {
  filter.messages().clear();
  filter.set(property.c_str(), std::to_string(size));
  for (int i = 0; i < 5; ++i)
    expect_picture(filter.process(picture), blurred(picture, last_valid),
                   "the last valid set goes on");
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 0);
  expect_remedy(filter.messages().text(GST_MESSAGE_WARNING), property, size);
}

}  // namespace

GST_START_TEST(test_defaults_and_ranges) {
  GstElement* element = gst_element_factory_make("cudagaussblur", nullptr);
  fail_unless(element != nullptr);
  expect_number(element, "sigma", -127, 127, 1.2);
  expect_number(element, "sigma-y", 0, 127, 0);
  for (const char* name : {"kernel-size", "kernel-size-y"}) {
    const GParamSpec* spec = property_of(element, name);
    fail_unless(G_IS_PARAM_SPEC_INT(spec));
    fail_unless_equals_int(G_PARAM_SPEC_INT(spec)->minimum, 0);
    fail_unless_equals_int(G_PARAM_SPEC_INT(spec)->maximum, 1023);
    fail_unless_equals_int(G_PARAM_SPEC_INT(spec)->default_value, 0);
  }
  expect_enum_default(element, "border", "reflect-101");
  expect_enum_nicks(element, "border", {"reflect-101", "replicate", "reflect", "wrap", "constant"});
  guint color = 0;
  gboolean blur_alpha = FALSE, fine = TRUE;
  g_object_get(element, "border-color", &color, "blur-alpha", &blur_alpha, "fine", &fine, nullptr);
  fail_unless_equals_int_hex(color, 0xff000000u);
  fail_unless(blur_alpha);
  fail_unless(!fine);
  for (const char* name : {"sigma", "sigma-y"})
    expect_no_nan(element, name);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_flags) {
  GstElement* element = gst_element_factory_make("cudagaussblur", nullptr);
  for (const char* name : {"sigma", "sigma-y", "kernel-size", "kernel-size-y", "border",
                           "border-color", "blur-alpha", "fine"})
    expect_changeable_while_playing(element, name);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_values_read_back) {
  GstElement* element = gst_element_factory_make("cudagaussblur", nullptr);
  for (const auto& [name, value] :
       {std::pair{"sigma", "-12.5"}, std::pair{"sigma-y", "0.25"}, std::pair{"kernel-size", "31"},
        std::pair{"kernel-size-y", "1023"}, std::pair{"border", "wrap"},
        std::pair{"border-color", "0x80ff4020"}, std::pair{"blur-alpha", "false"},
        std::pair{"fine", "true"}})
    expect_read_back(element, name, value);
  gst_object_unref(element);
}
GST_END_TEST

// Each change is in force with the next frame, and none is missed.
GST_START_TEST(test_change_while_playing) {
  const FormatSpec& format = format_named("RGBA");
  FilterHarness filter("cudagaussblur");
  filter.accept_caps(format, 48, 20, colorimetry(format, false));
  const Picture picture = make_picture(format, 48, 20, Content::natural, 1);
  Blur how;
  const auto expect = [&] {
    expect_picture(filter.process(picture), blurred(picture, how), how.description());
  };
  expect();
  how.sigma = 6;
  filter.set("sigma", "6");
  expect();
  how.sigma_y = 1.5;
  filter.set("sigma-y", "1.5");
  expect();
  how.kernel_size = 7;
  filter.set("kernel-size", "7");
  expect();
  how.kernel_size_y = 13;
  filter.set("kernel-size-y", "13");
  expect();
  how.edge = Edge::constant;
  filter.set("border", "constant");
  expect();
  how.color = 0x804020ff;
  filter.set("border-color", "0x804020ff");
  expect();
  how.fine = true;
  filter.set("fine", "true");
  expect();
  how.blur_alpha = false;
  filter.set("blur-alpha", "false");
  expect();
  how.sigma = -6;
  filter.set("sigma", "-6");
  expect();
  fail_unless_equals_int(
      filter.messages().count(static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING)),
      0);
}
GST_END_TEST

// Every frame is made with one sigma that was in force, never with parts of two.
GST_START_TEST(test_change_from_another_thread) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter("cudagaussblur");
  filter.accept_caps(format, 48, 20, colorimetry(format, false));
  const Picture picture = make_picture(format, 48, 20, Content::natural, 1);
  const Picture few = blurred(picture, {}), many = blurred(picture, of_sigma(5));
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (unsigned i = 0; !stop; ++i)
      filter.set("sigma", i % 2 == 0 ? "5" : "1.2");
  });
  std::string unexpected;
  for (int i = 0; i < 500 && unexpected.empty(); ++i) {
    const Picture out = filter.process(picture);
    if (!difference(out, few).empty())
      unexpected = difference(out, many);
  }
  stop = true;
  changer.join();
  fail_unless(unexpected.empty(), "neither the one nor the other: %s", unexpected.c_str());
}
GST_END_TEST

GST_START_TEST(test_even_size_while_playing) {
  for (const char* name : {"NV12", "GRAY16_LE", "BGRA"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter("cudagaussblur", {{"sigma", "3"}});
    filter.accept_caps(format, 33, 21, colorimetry(format, false));
    const Picture picture = make_picture(format, 33, 21, Content::natural, 6);
    filter.process(picture);
    expect_last_valid(filter, picture, of_sigma(3), "kernel-size", 8);

    // What else is set meanwhile belongs to the impossible set.
    filter.set("sigma", "5");
    expect_picture(filter.process(picture), blurred(picture, of_sigma(3)), "still the last");
    filter.set("kernel-size", "9");
    Blur mended = of_sigma(5);
    mended.kernel_size = 9;
    expect_picture(filter.process(picture), blurred(picture, mended), "valid again");
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);

    // And the next mistake is worth a word again, but not every step of it.
    expect_last_valid(filter, picture, mended, "kernel-size-y", 1022);
    filter.set("kernel-size-y", "2");
    expect_picture(filter.process(picture), blurred(picture, mended), "as impossible as before");
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
  }
}
GST_END_TEST

GST_START_TEST(test_even_size_at_start) {
  for (const char* property : {"kernel-size", "kernel-size-y"})
    for (int size : {2, 64, 1022}) {
      const FormatSpec& format = format_named("I420");
      FilterHarness filter("cudagaussblur", {{property, std::to_string(size)}});
      filter.send_caps(caps_of(format, 32, 16, colorimetry(format, false)));
      const GstFlowReturn flow = filter.push(to_buffer(Picture(format, 32, 16)));
      fail_unless(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR, "flow %s",
                  gst_flow_get_name(flow));
      // Not exactly one: with the frame the pad offers the refused caps once more.
      fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
      expect_remedy(filter.messages().text(GST_MESSAGE_ERROR), property, size);
      fail_unless(filter.pull() == nullptr);
    }
}
GST_END_TEST

GST_START_TEST(test_even_size_with_new_caps) {
  const FormatSpec &first = format_named("BGRx"), &second = format_named("GRAY8");
  FilterHarness filter("cudagaussblur");
  filter.accept_caps(first, 32, 16, colorimetry(first, false));
  const Picture before = make_picture(first, 32, 16, Content::natural, 2);
  expect_picture(filter.process(before), blurred(before, {}), "before");
  filter.set("kernel-size", "10");
  expect_picture(filter.process(before), blurred(before, {}), "the last valid set");
  filter.send_caps(caps_of(second, 32, 16));
  fail_unless(filter.push(to_buffer(Picture(second, 32, 16))) != GST_FLOW_OK);
  fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
  expect_remedy(filter.messages().text(GST_MESSAGE_ERROR), "kernel-size", 10);

  filter.set("kernel-size", "11");
  filter.accept_caps(second, 32, 16);
  Blur mended;
  mended.kernel_size = 11;
  const Picture after = make_picture(second, 32, 16, Content::natural, 2);
  expect_picture(filter.process(after), blurred(after, mended), "mended");
}
GST_END_TEST

static Suite* check_blur_properties_suite() {
  Suite* suite = suite_create("cudagaussblur properties");
  TCase* tc = tcase_create("properties");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_defaults_and_ranges);
  tcase_add_test(tc, test_flags);
  tcase_add_test(tc, test_values_read_back);
  tcase_add_test(tc, test_change_while_playing);
  tcase_add_test(tc, test_change_from_another_thread);
  tcase_add_test(tc, test_even_size_while_playing);
  tcase_add_test(tc, test_even_size_at_start);
  tcase_add_test(tc, test_even_size_with_new_caps);
  return suite;
}

GST_CHECK_MAIN(check_blur_properties)
