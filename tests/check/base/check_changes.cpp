// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests property changes while a filter runs: while settings are invalid, the last valid settings
// stay in effect, and controllers set values by stream time.
#include <algorithm>

#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/pictures/tensors.h"

using namespace check;

namespace {

void expect_last_valid(FilterHarness& filter, const Picture& picture, const Properties& impossible,
                       const Picture& last_valid, const std::vector<std::string>& words,
                       const Properties& possible, const Picture& mended) {
  filter.messages().clear();
  filter.set(impossible);
  for (int i = 0; i < 5; ++i)
    expect_picture(filter.process(picture), last_valid, "the last valid settings");
  filter.messages().expect_one(GST_MESSAGE_WARNING, words);
  filter.set(possible);
  expect_picture(filter.process(picture), mended, "valid again");
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
}

Equalization equalization(double strength, bool each_channel = false) {
  return {each_channel, strength};
}

Blur of_sigma(double sigma, int kernel_size = 0) {
  return {sigma, 0, kernel_size};
}

}  // namespace

// Every frame must be made with one of the two settings, never with a mixture.
TEST(test_change_from_another_thread) {
  const auto expect = [](FilterHarness& filter, const char* name, const Property& one,
                         const Property& other, const auto& result_of) {
    const FormatSpec& format = format_named(name);
    filter.accept_caps(format, 48, 20, colorimetry(format, false));
    const Picture picture = make_picture(format, 48, 20, Content::natural, 1);
    expect_either([&](unsigned i) { filter.set(i % 2 == 0 ? one : other); },
                  [&] { return filter.process(picture); }, result_of(picture, true),
                  result_of(picture, false));
  };
  FilterHarness equalize, blur("cudagaussblur"), mean("cudaintegral", {{"output", "mean"}});
  expect(equalize, "RGBx", {"channels", "rgb"}, {"channels", "luma"},
         [](const Picture& picture, bool one) { return equalized(picture, equalization(1, one)); });
  expect(blur, "NV12", {"sigma", "5"}, {"sigma", "1.2"}, [](const Picture& picture, bool one) {
    return blurred(picture, of_sigma(one ? 5 : 1.2));
  });
  mean.set("radius", "1");
  expect(mean, "GRAY8", {"radius", "9"}, {"radius", "1"}, [](const Picture& picture, bool one) {
    return gray_picture_of(picture, with_radius(Output::mean, one ? 9 : 1), *picture.format);
  });
}

TEST(test_impossible, .for_each_element()) {
  const ElementUnderTest& spec = tested();
  std::vector<Impossible> sets;
  for (const PropertySpec& property : spec.properties)
    for (const double number : property.out_of_range())
      sets.push_back({{{property.name, text_of(number)}}, {text_of(number), " to "}, {"I420"}});
  sets.insert(sets.end(), spec.impossible.begin(), spec.impossible.end());
  const auto waits_for_start = [&](const Property& property) {
    return std::any_of(spec.properties.begin(), spec.properties.end(), [&](const auto& row) {
      return property.first == std::string(row.name) && row.change != Change::playing;
    });
  };
  for (const Impossible& set : sets) {
    if (std::any_of(set.properties.begin(), set.properties.end(), waits_for_start))
      continue;
    const FormatSpec& format = format_named(set.formats[0]);
    const Picture picture = make_picture(format, 33, 21, Content::natural, 6);
    FilterHarness filter;
    filter.accept_caps(format, 33, 21, colorimetry(format, false));
    filter.process(picture);
    Properties valid;
    for (const auto& [name, value] : set.properties)
      valid.emplace_back(name, value_of(filter.element(), name));
    expect_last_valid(filter, picture, set.properties, result(picture), set.words, valid,
                      result(picture));
  }
}

// A valid value that is set together with an invalid one takes effect once all values are valid.
// Only the first of several invalid values in a row causes a warning.
TEST(test_impossible_beside_others) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter("cudagaussblur", {{"sigma", "3"}});
  filter.accept_caps(format, 33, 21, colorimetry(format, false));
  const Picture picture = make_picture(format, 33, 21, Content::natural, 6);
  filter.process(picture);
  const Picture mended = blurred(picture, of_sigma(5, 9));
  expect_last_valid(filter, picture, {{"kernel-size", "8"}, {"sigma", "5"}},
                    blurred(picture, of_sigma(3)), {"kernel-size", "7", "9"},
                    {{"kernel-size", "9"}}, mended);
  filter.messages().clear();
  for (const char* size : {"1022", "2"}) {
    filter.set("kernel-size-y", size);
    expect_picture(filter.process(picture), mended, "the last valid settings");
  }
  filter.messages().expect_one(GST_MESSAGE_WARNING, {"kernel-size-y", "1021", "1023"});
}

// If the properties are invalid for new caps, the caps are refused until the properties are valid.
TEST(test_impossible_at_new_caps, .for_each_element()) {
  const FormatSpec &first = format_named("BGRx"), &second = gray();
  FilterHarness filter;
  filter.accept_caps(first, 32, 16, colorimetry(first, false));
  filter.process(make_picture(first, 32, 16, Content::natural, 2));
  filter.set(tested().wrong);
  filter.send_caps(caps_of(second, 32, 16));
  fail_unless(filter.push(to_buffer(Picture(second, 32, 16))) != GST_FLOW_OK);
  expect_words(filter.messages().text(GST_MESSAGE_ERROR), {tested().wrong.first});
  filter.set(tested().mended);
  filter.accept_caps(second, 32, 16);
  const Picture after = make_picture(second, 32, 16, Content::natural, 2);
  expect_picture(filter.process(after), result(after), "mended");
}

TEST(test_output_waits_for_a_start) {
  const Picture picture = make_picture(gray(), 40, 30, Content::natural, 1);
  FilterHarness filter("cudaintegral");
  Integral how;
  const auto expect = [&] {
    filter.accept_caps(gray(), 40, 30);
    if (is_table(how.output))
      expect_tensor(filter, picture, how);
    else
      expect_gray_picture(filter, picture, how, gray());
  };
  expect();
  for (const auto& [output, same_size, type] :
       {std::tuple{Output::squared_sum, true, ElementType::float64},
        std::tuple{Output::mean, false, ElementType::automatic},
        std::tuple{Output::tilted_sum, false, ElementType::uint64},
        std::tuple{Output::stddev, true, ElementType::uint32}}) {
    const Integral next{output, same_size, type, how.radius + 2};
    filter.set(next.properties());
    how.radius = next.radius;  // takes effect at once
    expect();                  // the other properties need a restart
    gst_harness_push_upstream_event(filter.harness(), gst_event_new_reconfigure());
    expect();
    filter.restart();
    how = next;
    expect();
  }
  fail_unless_equals_int(filter.messages().complaints(), 0);
}

// Control curves are evaluated at stream time, which differs from timestamps and running time.
TEST(test_controlled_by_stream_time) {
  FilterHarness filter;
  constexpr double values[] = {1.0, 0.25, 0.0, 0.5, 0.75};
  std::vector<Point> points;
  for (double value : values)
    points.push_back({points.size() * GST_SECOND, value});
  control(filter.element(), "strength", Curve::steps, points);
  filter.accept_caps(gray(), 40, 24);
  GstSegment segment = new_segment();
  segment.start = segment.position = 3600 * GST_SECOND;
  segment.base = 77 * GST_SECOND;
  segment.time = 1 * GST_SECOND;
  filter.send_segment(segment);
  const Picture picture = make_picture(gray(), 40, 24, Content::natural, 6);
  for (guint i = 0; i < 3; ++i) {
    filter.expect(at((3600 + i) * GST_SECOND + 40 * GST_MSECOND, to_buffer(picture)),
                  equalized(picture, equalization(values[1 + i])),
                  "second " + std::to_string(1 + i));
  }
}

TEST(test_controlled_messages) {
  FilterHarness filter;
  control(filter.element(), "post-messages", Curve::steps,
          {{0, 0}, {2 * GST_SECOND, 1}, {4 * GST_SECOND, 0}});
  filter.accept_caps(gray(), 40, 24);
  for (guint second = 0; second < 6; ++second)
    filter.process(at(second * GST_SECOND, to_buffer(Picture(gray(), 40, 24))));
  filter.send_eos();
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ELEMENT), 2);
}

TEST(test_controlled_integers) {
  constexpr int frames = 30;
  const Picture picture = make_picture(gray(), 40, 24, Content::natural, 6);
  FilterHarness filter("cudaintegral", {{"output", "mean"}});
  control(filter.element(), "radius", Curve::line,
          {{0, 0}, {(frames - 1) * GST_SECOND, frames - 1}});
  filter.accept_caps(gray(), 40, 24);
  for (int i = 0; i < frames; ++i) {
    const Owned<GstBuffer> out = filter.process(at(i * GST_SECOND, to_buffer(picture)));
    gint radius = -1;
    g_object_get(filter.element(), "radius", &radius, nullptr);
    fail_unless(radius >= i - 1 && radius <= i, "frame %d has radius=%d", i, radius);
    expect_picture(from_buffer(out, gray(), 40, 24),
                   gray_picture_of(picture, with_radius(Output::mean, radius), gray()),
                   "radius=" + std::to_string(radius));
  }
}
