// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pictures of cudaintegral with the definition: mean and deviation of every format.
#include <iterator>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pictures/random.h"
#include "tests/check/common/pictures/tensors.h"

using namespace check;

namespace {

constexpr Output statistics[] = {Output::mean, Output::stddev};

}  // namespace

TEST(test_formats_and_sizes, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  for (Output output : statistics) {
    FilterHarness filter("cudaintegral", {{"output", nick_of(output)}});
    unsigned seed = 1;
    for (const Size& size :
         {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{1, 37}, Size{41, 1}, Size{5, 3}, Size{16, 16},
          Size{17, 9}, Size{33, 31}, Size{131, 6}, Size{7, 83}})
      for (bool limited : {false, true}) {
        if (limited && format.family == Family::rgb)
          continue;
        filter.accept_caps(format, size.width, size.height, colorimetry(format, limited));
        const Picture picture = make_picture(format, size.width, size.height,
                                             all_contents[seed % std::size(all_contents)], seed);
        for (int radius : {7, 0, 1, 3, 200, 65535}) {
          const Integral how = with_radius(output, radius);
          filter.set(how.properties());
          expect_gray_picture(filter, picture, how, natural_format(picture, output),
                              all_layouts[++seed % std::size(all_layouts)]);
        }
      }
  }
}

// Tests the extremes of all sums: a white picture, one white pixel, and black and white columns.
TEST(test_extreme_contents) {
  for (const char* name : {"GRAY8", "GRAY16_LE", "P010_10LE", "BGR"})
    for (Output output : statistics)
      for (int pattern = 0; pattern < 3; ++pattern) {
        const FormatSpec& format = format_named(name);
        const Picture picture = picture_with(format, 300, 200, [&](int, int x, int y) {
          const bool white = pattern == 0 || (pattern == 1 && x == 150 && y == 100) ||
                             (pattern == 2 && x % 2 == 0);
          return white ? format.peak() : 0;
        });
        FilterHarness filter("cudaintegral", {{"output", nick_of(output)}});
        filter.accept_caps(format, 300, 200, colorimetry(format, false));
        for (int radius : {1, 30, 300}) {
          const Integral how = with_radius(output, radius);
          filter.set(how.properties());
          expect_gray_picture(filter, picture, how, natural_format(picture, output));
        }
      }
}

// The frames are large enough for several threads, blocks and row tails.
TEST(test_large_frames) {
  for (const char* name : {"GRAY8", "NV12", "RGB", "BGRx", "P010_10LE", "GRAY16_LE", "UYVY"})
    for (Output output : statistics) {
      const FormatSpec& format = format_named(name);
      FilterHarness filter("cudaintegral", {{"output", nick_of(output)}});
      filter.accept_caps(format, 683, 421, colorimetry(format, false));
      const Picture picture = make_picture(format, 683, 421, Content::natural, 9);
      for (int radius : {3, 400}) {
        const Integral how = with_radius(output, radius);
        filter.set(how.properties());
        expect_gray_picture(filter, picture, how, natural_format(picture, output), odd_layout);
      }
    }
}

TEST(test_extreme_shapes) {
  for (const char* name : {"GRAY8", "RGB", "GRAY16_LE", "YUY2"})
    for (Output output : statistics)
      for (const Size& size : {Size{32767, 1}, Size{1, 32767}}) {
        const FormatSpec& format = format_named(name);
        FilterHarness filter("cudaintegral", {{"output", nick_of(output)}});
        filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
        const Picture picture = make_picture(format, size.width, size.height, Content::natural, 17);
        expect_gray_picture(filter, picture, with_radius(output, 7),
                            natural_format(picture, output));
      }
}

TEST(test_formats_with_the_same_samples_agree, .times(std::size(formats_of_the_same_samples))) {
  const FormatSpec& one = format_named(formats_of_the_same_samples[index][0]);
  const FormatSpec& other = format_named(formats_of_the_same_samples[index][1]);
  const Picture a = make_picture(one, 75, 53, Content::natural, 21);
  for (Output output : statistics) {
    const Integral how = with_radius(output, 5);
    FilterHarness first("cudaintegral", how.properties()), second("cudaintegral", how.properties());
    first.accept_caps(one, 75, 53);
    second.accept_caps(other, 75, 53);
    const Owned<GstBuffer> c = first.process(to_buffer(a)),
                           d = second.process(to_buffer(converted(a, other)));
    fail_unless(bytes_of(c) == bytes_of(d), "%s", nick_of(output));
  }
}

// Interleaved fields are treated as one picture.
TEST(test_interleaved_fields) {
  const FormatSpec& format = format_named("I420");
  Picture picture = make_picture(format, 36, 26, Content::natural, 1);
  picture.interlaced = true;
  for (Output output : statistics) {
    FilterHarness filter("cudaintegral", {{"output", nick_of(output)}});
    filter.accept_caps(format, 36, 26, colorimetry(format, false) + ", interlace-mode=interleaved");
    expect_gray_picture(filter, picture, with_radius(output, 7), natural_format(picture, output));
  }
}

// Tests random combinations. A failure prints its seed.
TEST(test_random_cases, .times(10)) {
  for (unsigned i = 0; i < 30; ++i) {
    const unsigned seed = 1000u * static_cast<unsigned>(index) + i;
    Random random(seed);
    const FormatSpec& format = random.any_format();
    Integral how;
    how.output = random.one_of(all_outputs);
    how.same_size = random.below(2) == 0;
    how.type = random.one_of(all_element_types);
    how.radius = static_cast<int>(random.log_uniform(1, 300)) - 1;
    const bool limited = format.family != Family::rgb && random.below(2) == 1;
    const int width = static_cast<int>(random.log_uniform(1, 200));
    const int height = static_cast<int>(random.log_uniform(1, 200));
    const Layout layout = random.any_layout();

    FilterHarness filter("cudaintegral", how.properties());
    const bool picture_of_table = is_table(how.output) && random.below(2) == 0;
    if (picture_of_table)
      filter.accept_downstream("video/x-raw");
    filter.accept_caps(format, width, height, colorimetry(format, limited));
    const Picture picture = make_picture(format, width, height, random.one_of(all_contents), seed);
    if (is_table(how.output) && !picture_of_table)
      expect_tensor(filter, picture, how, layout);
    else
      expect_gray_picture(filter, picture, how, natural_format(picture, how.output), layout);
  }
}

TEST(test_photographs, .times(std::size(photographs)).unless(unless_photographs())) {
  const Photograph& photograph = photographs[index];
  for (const char* format : {"GRAY8", "GRAY16_LE"})
    for (Output output : statistics) {
      const Integral how = with_radius(output, 20);
      const auto [before, after] = photograph_through(
          photograph, format_named(format), "",
          "cudaintegral backend=" + test_backend() + " " + text_of(how.properties()));
      expect_picture(after, gray_picture_of(before, how, format_named(format)), photograph.file);
    }
}
