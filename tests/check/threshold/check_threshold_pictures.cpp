// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pictures of cudathreshold with the definition, for every format and many sizes,
// memory layouts and settings.
#include <iterator>

#include "tests/check/common/definitions/thresholddefinition.h"
#include "tests/check/common/pictures/graypictures.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pictures/random.h"

using namespace check;

namespace {

/// Thresholds of both methods, with usual and extreme parameters.
const std::vector<Threshold> various_thresholds = {
    {4},
    {1, false, 0},
    {4, false, 1},
    {25, false, 0.37},
    {4, true},
    {2, true, 0, 0.5, 40},
    {4, true, 0, 0},
    {60, true, 0, 1, 65535},
    {7, false, 0.15, 0, 0, true},
    {7, true, 0, 0.2, 0, true},
};

/// Sends a picture and compares the one that comes out, which has 8 bits by default.
void expect_threshold(FilterHarness& filter, const Picture& picture, const Threshold& how,
                      const Layout& layout = packed_layout) {
  filter.set(how.properties());
  expect_gray_picture(filter, picture, thresholded(picture, how, format_named("GRAY8")),
                      picture.format->name + (": " + how.description()), layout);
}

}  // namespace

TEST(test_formats_and_sizes, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudathreshold");
  unsigned seed = 1;
  for (const Size& size : {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{1, 37}, Size{41, 1}, Size{5, 3},
                           Size{16, 16}, Size{17, 9}, Size{33, 31}, Size{131, 6}, Size{7, 83}})
    for (bool limited : {false, true}) {
      if (limited && format.family == Family::rgb)
        continue;
      filter.accept_caps(format, size.width, size.height, colorimetry(format, limited));
      const Picture picture = make_picture(format, size.width, size.height,
                                           all_contents[seed % std::size(all_contents)], seed);
      for (int radius : {7, 0, 1, 3, 200, 65535}) {
        Threshold how{radius};
        how.limited = limited;
        expect_threshold(filter, picture, how, all_layouts[++seed % std::size(all_layouts)]);
      }
    }
}

TEST(test_settings, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  for (const char* out : {"GRAY8", "GRAY16_LE"}) {
    FilterHarness filter("cudathreshold");
    filter.accept_downstream(std::string("video/x-raw, format=") + out);
    for (bool limited : {false, true}) {
      if (limited && format.family == Family::rgb)
        continue;
      filter.accept_caps(format, 61, 47, colorimetry(format, limited));
      for (Content content : all_contents)
        for (Threshold how : various_thresholds) {
          how.limited = limited;
          filter.set(how.properties());
          const Picture picture = make_picture(format, 61, 47, content, 3);
          expect_gray_picture(filter, picture, thresholded(picture, how, format_named(out)),
                              how.description(), odd_layout);
        }
    }
  }
}

// Thresholds count from the black level. Caps without colorimetry mean GStreamer's defaults, which
// are limited range for YUV and full range for gray. RGB always has full range.
TEST(test_range_follows_the_caps) {
  for (const char* name : {"GRAY8", "GRAY16_LE", "I420", "P010_10LE", "YUY2", "RGB"}) {
    const FormatSpec& format = format_named(name);
    const bool rgb = format.family == Family::rgb;
    const bool by_default = format.family == Family::yuv;
    // A dark page, on which a fifth of the pixels is somewhat darker.
    const Picture page = picture_with(format, 61, 47, [&](int, int x, int y) {
      return ((x + 2 * y) % 5 == 0 ? 34 : 40) << (format.bits - 8);
    });
    for (bool sauvola : {false, true}) {
      Threshold how{9, sauvola}, other = how;
      other.limited = true;
      const FormatSpec& gray = format_named("GRAY8");
      const Picture full = thresholded(page, how, gray);
      fail_unless(rgb || !difference(full, thresholded(page, other, gray)).empty(),
                  "%s: the picture does not show its range", name);
      FilterHarness filter("cudathreshold", how.properties());
      for (const auto& [caps, limited] :
           {std::pair{colorimetry(format, true), true},
            {colorimetry(format, false), false},
            {std::string(), by_default},
            {std::string(rgb ? ", colorimetry=2:1:7:1" : ", colorimetry=bt709"), true},
            {std::string(rgb ? ", colorimetry=1:1:7:1" : ", colorimetry=1:3:5:1"), false}}) {
        filter.accept_caps(format, 61, 47, caps);
        how.limited = limited;
        expect_gray_picture(filter, page, thresholded(page, how, gray), how.description());
      }
    }
  }
}

// Tests the extremes of all sums: a white picture, one white pixel, and black and white columns.
TEST(test_extreme_contents) {
  for (const char* name : {"GRAY8", "GRAY16_LE", "P010_10LE", "BGR"})
    for (int pattern = 0; pattern < 3; ++pattern) {
      const FormatSpec& format = format_named(name);
      const Picture picture = picture_with(format, 300, 200, [&](int, int x, int y) {
        const bool white =
            pattern == 0 || (pattern == 1 && x == 150 && y == 100) || (pattern == 2 && x % 2 == 0);
        return white ? format.peak() : 0;
      });
      FilterHarness filter("cudathreshold");
      filter.accept_caps(format, 300, 200, colorimetry(format, false));
      for (int radius : {1, 30, 300})
        expect_threshold(filter, picture, {radius});
    }
}

// The frames are large enough for several threads, blocks and row tails.
TEST(test_large_frames) {
  for (const char* name : {"GRAY8", "NV12", "RGB", "BGRx", "P010_10LE", "GRAY16_LE", "UYVY"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter("cudathreshold");
    filter.accept_caps(format, 683, 421, colorimetry(format, false));
    const Picture picture = make_picture(format, 683, 421, Content::natural, 9);
    for (int radius : {3, 400})
      expect_threshold(filter, picture, {radius}, odd_layout);
  }
}

TEST(test_extreme_shapes) {
  for (const char* name : {"GRAY8", "RGB", "GRAY16_LE", "YUY2"})
    for (const Size& size : {Size{32767, 1}, Size{1, 32767}}) {
      const FormatSpec& format = format_named(name);
      FilterHarness filter("cudathreshold");
      filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
      expect_threshold(filter, make_picture(format, size.width, size.height, Content::natural, 17),
                       {});
    }
}

TEST(test_formats_with_the_same_samples_agree, .times(std::size(formats_of_the_same_samples))) {
  const FormatSpec& one = format_named(formats_of_the_same_samples[index][0]);
  const FormatSpec& other = format_named(formats_of_the_same_samples[index][1]);
  const Picture a = make_picture(one, 75, 53, Content::natural, 21);
  FilterHarness first("cudathreshold"), second("cudathreshold");
  first.accept_caps(one, 75, 53);
  second.accept_caps(other, 75, 53);
  const Owned<GstBuffer> c = first.process(to_buffer(a)),
                         d = second.process(to_buffer(converted(a, other)));
  fail_unless(bytes_of(c) == bytes_of(d), "%s", one.name);
}

// Interleaved fields are treated as one picture.
TEST(test_interleaved_fields) {
  const FormatSpec& format = format_named("I420");
  Picture picture = make_picture(format, 36, 26, Content::natural, 1);
  picture.interlaced = true;
  FilterHarness filter("cudathreshold");
  filter.accept_caps(format, 36, 26, colorimetry(format, false) + ", interlace-mode=interleaved");
  expect_threshold(filter, picture, {});
}

// Tests random combinations. A failure prints its seed.
TEST(test_random_cases, .times(10)) {
  for (unsigned i = 0; i < 10; ++i) {
    const unsigned seed = 1000u * static_cast<unsigned>(index) + i;
    Random random(seed);
    const FormatSpec& format = random.any_format();
    Threshold how;
    how.radius = static_cast<int>(random.log_uniform(1, 300)) - 1;
    how.sauvola = random.below(2) == 0;
    how.ratio = random.below(257) / 256.0;
    how.k = random.below(257) / 256.0;
    how.range = random.below(2) == 0 ? 0 : random.log_uniform(0.1, 1000);
    how.invert = random.below(3) == 0;
    how.limited = format.family != Family::rgb && random.below(2) == 1;
    const int width = static_cast<int>(random.log_uniform(1, 200));
    const int height = static_cast<int>(random.log_uniform(1, 200));
    FilterHarness filter("cudathreshold");
    filter.accept_caps(format, width, height, colorimetry(format, how.limited));
    const Picture picture = make_picture(format, width, height, random.one_of(all_contents), seed);
    const Picture expected = thresholded(picture, how, format_named("GRAY8"));
    filter.set(how.properties());
    expect_gray_picture(filter, picture, expected,
                        "seed " + std::to_string(seed) + ": " + how.description(),
                        random.any_layout());
  }
}

TEST(test_photographs, .times(std::size(photographs)).unless(unless_photographs())) {
  const Photograph& photograph = photographs[index];
  for (const Threshold& how : various_thresholds) {
    const auto [before, after] = photograph_through(
        photograph, format_named("GRAY8"), "",
        "cudathreshold backend=" + test_backend() + " " + text_of(how.properties()));
    expect_picture(after, thresholded(before, how, format_named("GRAY8")), photograph.file);
  }
}
