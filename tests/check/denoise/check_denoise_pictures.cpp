// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares cudadenoise with the definition at automatic strength, and tests the messages.
#include <cmath>
#include <random>

#include "tests/check/common/definitions/denoisedefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/histogrammessage.h"

using namespace check;

namespace {

Denoising automatic(double chroma_strength = -1) {
  Denoising how = denoising(-1);
  how.chroma_strength = chroma_strength;
  return how;
}

/// Gray, luma or RGB has edges and noise. Chroma in planes of its own has only noise.
Picture with_noise(const FormatSpec& format, double deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, deviation / 255);
  const auto noisy = [&](double level, int peak) {
    return std::clamp(static_cast<int>((level + normal(random)) * peak), 0, peak);
  };
  Picture picture = picture_with(format, 160, 128, [&](int channel, int x, int y) {
    return noisy((x / 24 + y / 24 + channel) % 3 * 0.25 + 0.25, static_cast<int>(format.peak()));
  });
  const std::size_t step = format.peak() > 255 ? 2 : 1;  // 16-bit samples: upper bytes only
  for (std::size_t p = 1; format.places.size() == 1 && p < picture.planes.size(); ++p)
    for (std::size_t i = step - 1; i < picture.planes[p].bytes.size(); i += step)
      picture.planes[p].bytes[i] = static_cast<std::uint8_t>(noisy(0.5, 255));
  return picture;
}

template <class Value, class Get>
std::vector<Value> array_in(const GstStructure* structure, const char* field, const Get& get) {
  const GValue* const array = gst_structure_get_value(structure, field);
  fail_unless(array && GST_VALUE_HOLDS_ARRAY(array), "no array %s", field);
  std::vector<Value> values;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i)
    values.push_back(get(gst_value_array_get_value(array, i)));
  return values;
}

std::vector<double> numbers_in(const GstStructure* structure, const char* field) {
  return array_in<double>(structure, field, g_value_get_double);
}

std::vector<bool> uncertain_in(GstMessage* message) {
  return array_in<bool>(gst_message_get_structure(message), "uncertain", g_value_get_boolean);
}

std::vector<Owned<GstMessage>> take_messages(FilterHarness& filter) {
  return filter.messages().take(GST_MESSAGE_ELEMENT);
}

}  // namespace

TEST(test_strength_follows_noise) {
  for (const char* name : {"GRAY8", "I420", "NV12", "RGBA", "P010_10LE"}) {
    const FormatSpec& format = format_named(name);
    for (const Denoising& how : {automatic(), automatic(0), automatic(12)}) {
      FilterHarness filter("cudadenoise", how.properties());
      filter.accept_caps(format, 160, 128, colorimetry(format, false));
      AverageNoise noise;
      unsigned seed = 1;
      for (const double deviation : {2.0, 3.0, 20.0, 20.0, 8.0}) {
        const Picture picture = with_noise(format, deviation, ++seed);
        expect_picture(filter.process(picture), denoised(picture, how, noise),
                       how.description() + " of " + name);
      }
    }
  }
}

TEST(test_flush_and_caps_restart_the_average) {
  const Denoising how = automatic();
  FilterHarness filter("cudadenoise", how.properties());
  const Picture loud = with_noise(gray(), 30, 1), quiet = with_noise(gray(), 3, 2);
  AverageNoise first, second;
  const Picture after_loud = (denoised(loud, how, first), denoised(quiet, how, first));
  const Picture alone = denoised(quiet, how, second);
  fail_unless(!difference(after_loud, alone).empty(), "the average has no effect");

  filter.accept_caps(gray(), 160, 128);
  filter.process(loud);
  expect_picture(filter.process(quiet), after_loud, "in sequence");
  filter.process(loud);
  filter.flush();
  filter.accept_caps(gray(), 160, 128);
  expect_picture(filter.process(quiet), alone, "after a flush");
  filter.process(loud);
  filter.accept_caps(format_named("I420"), 160, 128);
  filter.process(with_noise(format_named("I420"), 3, 3));
  filter.accept_caps(gray(), 160, 128);
  expect_picture(filter.process(quiet), alone, "after other caps");
}

TEST(test_messages) {
  struct Expectation {
    const char* format;
    std::size_t channels;
  };
  for (const Expectation& expected : {Expectation{"GRAY8", 1}, {"I420", 3}, {"RGBA", 3}}) {
    const FormatSpec& format = format_named(expected.format);
    FilterHarness filter("cudadenoise", {{"search-size", "21"}});
    filter.accept_caps(format, 160, 128, colorimetry(format, false));
    filter.process(with_noise(format, 10, 1));
    fail_unless_equals_int(take_messages(filter).size(), 0);

    filter.set({{"post-messages", "true"}, {"strength", "-1"}});
    filter.process(with_noise(format, 10, 2));
    filter.set({{"strength", "4"}, {"chroma-strength", "5"}});
    filter.process(with_noise(format, 10, 3));
    filter.set({{"strength", "0"}, {"chroma-strength", "0"}});
    filter.process(with_noise(format, 10, 4));
    filter.send_eos();
    const std::vector<Owned<GstMessage>> messages = take_messages(filter);
    fail_unless_equals_int(messages.size(), 3);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const GstStructure* const structure = gst_message_get_structure(messages[i]);
      fail_unless_equals_string(gst_structure_get_name(structure), "cudadenoise");
      fail_unless(gst_structure_has_field(structure, "running-time"));
      const std::vector<double> noise = numbers_in(structure, "noise"),
                                used = numbers_in(structure, "noise-used"),
                                strength = numbers_in(structure, "strength");
      fail_unless_equals_int(noise.size(), expected.channels);
      fail_unless_equals_int(used.size(), expected.channels);
      fail_unless_equals_int(strength.size(), expected.channels);
      fail_unless(uncertain_in(messages[i]) == std::vector<bool>(expected.channels),
                  "%s: noise is reported as uncertain", expected.format);
      for (std::size_t c = 0; c < noise.size(); ++c) {
        fail_unless(noise[c] > 6 && noise[c] < 16 && std::abs(used[c] - noise[c]) < 4,
                    "%s: noise %f, but %f in use", expected.format, noise[c], used[c]);
        const bool chroma = c > 0 && std::string(expected.format) == "I420";
        if (i > 0) {
          fail_unless_equals_float(strength[c], i == 2 ? 0 : chroma ? 5 : 4);
        } else {
          fail_unless(strength[c] > 5 && strength[c] < 17, "a strength of %f", strength[c]);
        }
      }
    }
  }
}

TEST(test_message_says_that_texture_is_uncertain) {
  FilterHarness filter("cudadenoise", {{"search-size", "3"}, {"post-messages", "true"}});
  filter.accept_caps(gray(), 160, 128);
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  filter.process(picture_with(gray(), 160, 128, [&](int, int x, int) {
    return std::clamp(static_cast<int>(120 + 45 * std::sin(x / 2.0) + 15 * normal(random)), 0, 255);
  }));
  filter.process(with_noise(gray(), 15, 1));
  filter.send_eos();
  const std::vector<Owned<GstMessage>> messages = take_messages(filter);
  fail_unless_equals_int(messages.size(), 2);
  for (const bool texture : {true, false})
    fail_unless(uncertain_in(messages[texture ? 0 : 1]) == std::vector<bool>{texture});
}

TEST(test_interval) {
  FilterHarness filter(
      "cudadenoise",
      {{"search-size", "3"}, {"post-messages", "true"}, {"message-interval", "100000000"}});
  filter.accept_caps(gray(), 160, 128);
  for (guint i = 0; i < 10; ++i)
    push_frame(filter, with_noise(gray(), 5, i), i * 40 * GST_MSECOND);
  filter.send_eos();
  std::vector<guint64> times;
  for (const Owned<GstMessage>& message : take_messages(filter))
    times.push_back(time_in(gst_message_get_structure(message), "timestamp") / GST_MSECOND);
  fail_unless((times == std::vector<guint64>{0, 120, 200, 320}), "%zu messages", times.size());
}
