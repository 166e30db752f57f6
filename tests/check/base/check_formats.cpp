// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixels: every format, size, memory layout, range and setting equals the definition.
#include <cmath>
#include <random>

#include "tests/check/common/definition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

struct Size {
  int width, height;
};
constexpr Size sizes[] = {{1, 1}, {1, 2},   {2, 1},  {1, 37},  {41, 1},
                          {5, 3}, {16, 16}, {17, 9}, {33, 31}, {130, 6}};

struct Setting {
  const char* channels;
  double strength;
};
constexpr Setting settings[] = {{"luma", 1.0}, {"luma", 0.3}, {"rgb", 1.0}, {"rgb", 0.75}};

std::string number(double value) {
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, value);
}

Equalization to_definition(const Setting& setting, bool limited) {
  Equalization how;
  how.each_channel = std::string(setting.channels) == "rgb";
  how.strength = setting.strength;
  how.limited = limited;
  return how;
}

void apply(FilterHarness& filter, const Setting& setting) {
  filter.set("channels", setting.channels);
  filter.set("strength", number(setting.strength));
}

/// Sends one picture with every layout and setting that its format knows.
void expect_definition(FilterHarness& filter, const Picture& picture, bool limited,
                       const std::string& what) {
  for (const Setting& setting : settings) {
    if (std::string(setting.channels) == "rgb" && picture.format->family != Family::rgb)
      continue;
    apply(filter, setting);
    const Picture expected = equalized(picture, to_definition(setting, limited));
    int layout_number = 0;
    for (const Layout& layout : all_layouts)
      expect_picture(filter.process(picture, layout), expected,
                     what + (limited ? ", limited" : ", full") + ", channels=" + setting.channels +
                         " strength=" + number(setting.strength) + ", layout " +
                         std::to_string(layout_number++));
  }
  filter.set("channels", "luma");  // the next caps may be those of YUV
}

const FormatSpec& format_number(int i) {
  return formats()[static_cast<std::size_t>(i)];
}

}  // namespace

GST_START_TEST(test_sizes_and_layouts) {
  const FormatSpec& format = format_number(__i__);
  FilterHarness filter;
  unsigned seed = 1;
  for (const Size& size : sizes)
    for (bool limited : {false, true}) {
      if (limited && format.family == Family::rgb)
        continue;
      filter.accept_caps(format, size.width, size.height, colorimetry(format, limited));
      const Content content = seed % 2 == 0 ? Content::random : Content::natural;
      expect_definition(filter, make_picture(format, size.width, size.height, content, seed),
                        limited, "sizes");
      ++seed;
    }
}
GST_END_TEST

GST_START_TEST(test_contents) {
  const FormatSpec& format = format_number(__i__);
  FilterHarness filter;
  unsigned seed = 100;
  for (bool limited : {false, true}) {
    if (limited && format.family == Family::rgb)
      continue;
    filter.accept_caps(format, 67, 45, colorimetry(format, limited));
    for (Content content : all_contents)
      expect_definition(filter, make_picture(format, 67, 45, content, ++seed), limited,
                        "content " + std::to_string(static_cast<int>(content)));
  }
}
GST_END_TEST

// Large enough that every thread, block and tail of a row has work of its own.
GST_START_TEST(test_large_frames) {
  const FormatSpec& format = format_number(__i__);
  FilterHarness filter;
  filter.accept_caps(format, 1283, 721, colorimetry(format, false));
  const Picture picture = make_picture(format, 1283, 721, Content::natural, 9);
  expect_picture(filter.process(picture, odd_layout), equalized(picture, {}), "large");
}
GST_END_TEST

GST_START_TEST(test_extreme_shapes) {
  FilterHarness filter;
  for (const char* name : {"GRAY8", "NV12", "RGB", "GRAY16_LE", "YUY2"})
    for (const Size& size : {Size{32767, 1}, Size{1, 32767}}) {
      const FormatSpec& format = format_named(name);
      filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
      const Picture picture = make_picture(format, size.width, size.height, Content::natural, 17);
      expect_picture(filter.process(picture), equalized(picture, {}), "extreme shape");
    }
}
GST_END_TEST

GST_START_TEST(test_8k) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter;
  filter.accept_caps(format, 7680, 4320);
  for (Content content : {Content::random, Content::two_valued}) {
    const Picture picture = make_picture(format, 7680, 4320, content, 9);
    expect_picture(filter.process(picture), equalized(picture, {}), "8K");
  }
}
GST_END_TEST

// Weights that are not exact in 8 bits: rint() takes halves to the even neighbour.
GST_START_TEST(test_strengths) {
  for (const char* name : {"GRAY8", "I420_10LE", "GRAY16_LE", "BGRA"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter;
    filter.accept_caps(format, 61, 23, colorimetry(format, false));
    const Picture picture = make_picture(format, 61, 23, Content::natural, 5);
    for (double strength : {0.0, 0.5 / 256, 1.0 / 256, 1.5 / 256, 2.5 / 256, 0.1, 0.25, 1.0 / 3,
                            0.5, 0.7, 127.5 / 256, 253.5 / 256, 254.5 / 256, 255.5 / 256, 1.0}) {
      filter.set("strength", number(strength));
      Equalization how;
      how.strength = strength;
      expect_picture(filter.process(picture, odd_layout), equalized(picture, how),
                     "strength=" + number(strength));
    }
  }
}
GST_END_TEST

// Grey caps without colorimetry mean the full range.
GST_START_TEST(test_gray_without_colorimetry) {
  for (const char* name : {"GRAY8", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter;
    filter.accept_caps(format, 40, 30);
    const Picture picture = make_picture(format, 40, 30, Content::natural, 3);
    expect_picture(filter.process(picture), equalized(picture, {}), "no colorimetry");
  }
}
GST_END_TEST

// YUV caps without colorimetry mean what GStreamer takes for granted: the limited range.
GST_START_TEST(test_yuv_without_colorimetry) {
  for (const char* name : {"I420", "NV12", "P010_10LE"})
    for (int height : {30, 720}) {
      const FormatSpec& format = format_named(name);
      FilterHarness filter;
      filter.accept_caps(format, 40, height);
      const Picture picture = make_picture(format, 40, height, Content::natural, 3);
      Equalization how;
      how.limited = true;
      expect_picture(filter.process(picture), equalized(picture, how), "no colorimetry");
    }
}
GST_END_TEST

GST_START_TEST(test_range_change_takes_effect) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter;
  const Picture picture = make_picture(format, 40, 30, Content::natural, 8);
  for (bool limited : {true, false, true}) {
    filter.accept_caps(format, 40, 30, colorimetry(format, limited));
    Equalization how;
    how.limited = limited;
    expect_picture(filter.process(picture), equalized(picture, how), limited ? "limited" : "full");
  }
}
GST_END_TEST

// The same 10-bit values, once in the high and once in the low bits of their words.
GST_START_TEST(test_p010_agrees_with_i420_10le) {
  const FormatSpec &high = format_named("P010_10LE"), &low = format_named("I420_10LE");
  for (bool limited : {false, true}) {
    const Picture a = make_picture(high, 75, 53, Content::natural, 21);
    Picture b(low, 75, 53);
    for (int y = 0; y < b.height; ++y)
      for (int x = 0; x < b.width; ++x)
        b.set_sample(0, x, y, a.sample(0, x, y));
    FilterHarness first, second;
    first.accept_caps(high, 75, 53, colorimetry(high, limited));
    second.accept_caps(low, 75, 53, colorimetry(low, limited));
    const Picture c = first.process(a), d = second.process(b);
    for (int y = 0; y < b.height; ++y)
      for (int x = 0; x < b.width; ++x)
        fail_unless(c.sample(0, x, y) == d.sample(0, x, y), "at %d,%d: %d and %d", x, y,
                    c.sample(0, x, y), d.sample(0, x, y));
  }
}
GST_END_TEST

// P010 reads `word >> 6`: what stands in the low bits of luma neither counts nor comes back.
GST_START_TEST(test_p010_low_bits) {
  const FormatSpec& format = format_named("P010_10LE");
  const Picture clean = make_picture(format, 35, 19, Content::natural, 4);
  Picture dirty = clean;
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x)
      dirty.planes[0].row(y)[2 * x] |= static_cast<std::uint8_t>((x * 7 + y) & 0x3f);
  FilterHarness filter;
  filter.accept_caps(format, 35, 19, colorimetry(format, true));
  Equalization how;
  how.limited = true;
  expect_picture(filter.process(dirty), equalized(clean, how), "low bits set");
}
GST_END_TEST

// Words above ten bits are no valid samples, yet neither may they lead outside a table.
GST_START_TEST(test_samples_above_the_bit_depth) {
  const FormatSpec& format = format_named("I420_10LE");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 64, 33, colorimetry(format, true));
  Picture picture = make_picture(format, 64, 33, Content::random, 4);
  for (std::uint8_t& byte : picture.planes[0].bytes)
    byte |= 0xa5;
  const Picture out = filter.process(picture);
  for (std::size_t p : {std::size_t{1}, std::size_t{2}})
    fail_unless(out.planes[p].bytes == picture.planes[p].bytes, "chroma changed");
}
GST_END_TEST

// Both fields are one picture to the equalisation.
GST_START_TEST(test_interleaved_fields) {
  const FormatSpec& format = format_named("YUY2");
  FilterHarness filter;
  filter.accept_caps(format, 36, 26, colorimetry(format, false) + ", interlace-mode=interleaved");
  const Picture picture = make_picture(format, 36, 26, Content::natural, 1);
  expect_picture(filter.process(picture), equalized(picture, {}), "interleaved");
}
GST_END_TEST

// Anything with anything, from seeds; each failure names its own.
GST_START_TEST(test_random_cases) {
  FilterHarness filter;
  for (unsigned i = 0; i < 40; ++i) {
    const unsigned seed = 1000u * static_cast<unsigned>(__i__) + i;
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
    const FormatSpec& format = format_number(below(static_cast<unsigned>(formats().size())));
    const auto length = [&] {  // log-uniform from 1 to 200
      return 1 + static_cast<int>(std::exp(std::log(200.0) * (random() % 1000) / 1000.0));
    };
    const int width = length(), height = length();
    const bool limited = format.family != Family::rgb && below(2) == 1;
    Layout layout;
    layout.meta = below(4) != 0;
    layout.first = below(16);
    layout.row_padding = below(70);
    layout.plane_gap = below(20);
    layout.reverse = below(4) == 0;
    layout.split = !layout.reverse && below(3) == 0;
    const Content content = all_contents[below(5)];
    const Setting setting = {format.family == Family::rgb && below(2) == 1 ? "rgb" : "luma",
                             below(257) / 256.0};
    filter.set("channels", "luma");
    filter.accept_caps(format, width, height, colorimetry(format, limited));
    apply(filter, setting);
    const Picture picture = make_picture(format, width, height, content, seed);
    expect_picture(filter.process(picture, layout),
                   equalized(picture, to_definition(setting, limited)),
                   "seed " + std::to_string(seed));
  }
}
GST_END_TEST

static Suite* check_formats_suite() {
  Suite* suite = suite_create("cudahistequalize formats");
  TCase* tc = tcase_create("pixels");
  const int count = static_cast<int>(formats().size());
  suite_add_tcase(suite, tc);
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, test_sizes_and_layouts, 0, count);
  tcase_add_loop_test(tc, test_contents, 0, count);
  tcase_add_loop_test(tc, test_large_frames, 0, count);
  tcase_add_test(tc, test_extreme_shapes);
  tcase_add_test(tc, test_8k);
  tcase_add_test(tc, test_strengths);
  tcase_add_test(tc, test_gray_without_colorimetry);
  tcase_add_test(tc, test_yuv_without_colorimetry);
  tcase_add_test(tc, test_range_change_takes_effect);
  tcase_add_test(tc, test_p010_agrees_with_i420_10le);
  tcase_add_test(tc, test_p010_low_bits);
  tcase_add_test(tc, test_samples_above_the_bit_depth);
  tcase_add_test(tc, test_interleaved_fields);
  tcase_add_loop_test(tc, test_random_cases, 0, 10);
  return suite;
}

GST_CHECK_MAIN(check_formats)
