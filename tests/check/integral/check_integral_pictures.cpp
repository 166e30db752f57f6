// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pictures of cudaintegral with the definition: mean, deviation, threshold and
// denoised frames of every format.
#include <cmath>
#include <iterator>
#include <random>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pictures/random.h"
#include "tests/check/common/pictures/tensors.h"

using namespace check;

namespace {

constexpr Output gray_outputs[] = {Output::mean, Output::stddev, Output::threshold};

Integral thresholds(int radius, bool sauvola, double ratio, double k = 0.2, double range = 0) {
  return {Output::threshold, false, ElementType::automatic, radius, sauvola, ratio, k, range};
}

/// Returns thresholds of both methods, with usual and extreme parameters.
const std::vector<Integral> various_thresholds = {
    thresholds(4, false, 0.15),   thresholds(1, false, 0),
    thresholds(4, false, 1),      thresholds(25, false, 0.37),
    thresholds(4, true, 0.15),    thresholds(2, true, 0.15, 0.5, 40),
    thresholds(4, true, 0.15, 0), thresholds(60, true, 0.15, 1, 65535),
};

/// Makes a pattern with noise of a few levels.
Picture noisy_picture(const FormatSpec& format, int width, int height, unsigned seed) {
  Picture picture = make_picture(format, width, height, Content::random, seed);
  std::mt19937 random(seed);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int place = 0; place < static_cast<int>(format.places.size()); ++place) {
        const int shape = ((x / 7 + y / 5) % 2) * 90 + x + place * 9;
        const int value = 40 + shape % 160 + static_cast<int>(random() % 17);
        picture.set_sample(place, x, y,
                           value << (format.bits - 8) | value % (1 << (format.bits - 8)));
      }
  return picture;
}

}  // namespace

TEST(test_formats_and_sizes, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  for (Output output : gray_outputs) {
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
          Integral how = with_radius(output, radius);
          how.limited = limited;
          filter.set(how.properties());
          expect_gray_picture(filter, picture, how, natural_format(picture, output),
                              all_layouts[++seed % std::size(all_layouts)]);
        }
      }
  }
}

TEST(test_thresholds, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  for (const char* out : {"GRAY8", "GRAY16_LE"}) {
    FilterHarness filter("cudaintegral", {{"output", "threshold"}});
    filter.accept_downstream(std::string("video/x-raw, format=") + out);
    for (bool limited : {false, true}) {
      if (limited && format.family == Family::rgb)
        continue;
      filter.accept_caps(format, 61, 47, colorimetry(format, limited));
      for (Content content : all_contents)
        for (Integral how : various_thresholds) {
          how.limited = limited;
          filter.set(how.properties());
          expect_gray_picture(filter, make_picture(format, 61, 47, content, 3), how,
                              format_named(out), odd_layout);
        }
    }
  }
}

// Thresholds count from the black level. Caps without colorimetry mean GStreamer's defaults, which
// are limited range for YUV and full range for gray. RGB always has full range.
TEST(test_threshold_range_follows_the_caps) {
  for (const char* name : {"GRAY8", "GRAY16_LE", "I420", "P010_10LE", "YUY2", "RGB"}) {
    const FormatSpec& format = format_named(name);
    const bool rgb = format.family == Family::rgb;
    const bool by_default = format.family == Family::yuv;
    // A dark page, on which a fifth of the pixels is somewhat darker.
    const Picture page = picture_with(format, 61, 47, [&](int, int x, int y) {
      return ((x + 2 * y) % 5 == 0 ? 34 : 40) << (format.bits - 8);
    });
    for (bool sauvola : {false, true}) {
      Integral how = thresholds(9, sauvola, 0.15), other = how;
      other.limited = true;
      const FormatSpec& gray = format_named("GRAY8");
      const Picture full = gray_picture_of(page, how, gray);
      fail_unless(rgb || !difference(full, gray_picture_of(page, other, gray)).empty(),
                  "%s: the picture does not show its range", name);
      FilterHarness filter("cudaintegral", how.properties());
      for (const auto& [caps, limited] :
           {std::pair{colorimetry(format, true), true},
            {colorimetry(format, false), false},
            {std::string(), by_default},
            {std::string(rgb ? ", colorimetry=2:1:7:1" : ", colorimetry=bt709"), true},
            {std::string(rgb ? ", colorimetry=1:1:7:1" : ", colorimetry=1:3:5:1"), false}}) {
        filter.accept_caps(format, 61, 47, caps);
        how.limited = limited;
        expect_gray_picture(filter, page, how, gray);
      }
    }
  }
}

// Tests the extremes of all sums: a white picture, one white pixel, and black and white columns.
TEST(test_extreme_contents) {
  for (const char* name : {"GRAY8", "GRAY16_LE", "P010_10LE", "BGR"})
    for (Output output : gray_outputs)
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
    for (Output output : gray_outputs) {
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
    for (Output output : gray_outputs)
      for (const Size& size : {Size{32767, 1}, Size{1, 32767}}) {
        const FormatSpec& format = format_named(name);
        FilterHarness filter("cudaintegral", {{"output", nick_of(output)}});
        filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
        const Picture picture = make_picture(format, size.width, size.height, Content::natural, 17);
        expect_gray_picture(filter, picture, with_radius(output, 7),
                            natural_format(picture, output));
      }
}

TEST(test_denoise, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudaintegral", {{"output", "denoise"}});
  unsigned seed = 1;
  for (const Size& size : {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{1, 23}, Size{21, 1}, Size{5, 3},
                           Size{33, 26}, Size{50, 9}}) {
    filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
    for (const Integral& how : {denoising(10), denoising(30, 7, 1), denoising(3.3, 3, 7),
                                denoising(80, 9, 5), denoising(255, 1, 3), denoising(0)}) {
      filter.set(how.properties());
      for (const Picture& picture :
           {noisy_picture(format, size.width, size.height, ++seed),
            make_picture(format, size.width, size.height, all_contents[seed % 5], seed)})
        expect_picture(filter.process(picture, all_layouts[seed % std::size(all_layouts)]),
                       denoised(picture, how), how.description());
    }
  }
}

TEST(test_denoise_as_made) {
  for (const char* name : {"GRAY8", "NV12", "BGRA", "I420_10LE", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter("cudaintegral", {{"output", "denoise"}});
    filter.accept_caps(format, 48, 27, colorimetry(format, false));
    const Picture picture = noisy_picture(format, 48, 27, 3);
    const Integral how{Output::denoise};
    const Picture out = filter.process(picture, odd_layout);
    expect_picture(out, denoised(picture, how), "as made");
    fail_unless(!difference(out, picture).empty(), "%s: denoising changed nothing", name);
  }
}

// Denoising removes noise and keeps edges.
TEST(test_denoise_removes_noise) {
  const FormatSpec& format = format_named("GRAY8");
  std::mt19937 random(1);
  const Picture picture = picture_with(format, 64, 48, [&](int, int x, int) {
    return (x < 32 ? 60 : 180) + static_cast<int>(random() % 21) - 10;
  });
  FilterHarness filter("cudaintegral", {{"output", "denoise"}});
  filter.accept_caps(format, 64, 48);
  const Picture out = filter.process(picture);
  const auto error = [](const Picture& p) {
    double sum = 0;
    for (int y = 0; y < 48; ++y)
      for (int x = 0; x < 64; ++x)
        sum += std::abs(p.sample(0, x, y) - (x < 32 ? 60 : 180));
    return sum / (64 * 48);
  };
  fail_unless(error(out) < error(picture) / 3, "an error of %f levels, %f before", error(out),
              error(picture));
}

TEST(test_guided, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudaintegral", {{"output", "guided"}});
  unsigned seed = 1;
  for (const Size& size : {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{1, 23}, Size{21, 1}, Size{5, 3},
                           Size{33, 26}, Size{150, 9}}) {
    filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
    for (const Integral& how :
         {guided_filter(7, 100), guided_filter(1, 650.25), guided_filter(2, 0.3),
          guided_filter(65535, 65025), guided_filter(0, 100), guided_filter(5, 0)}) {
      filter.set(how.properties());
      for (const Picture& picture :
           {noisy_picture(format, size.width, size.height, ++seed),
            make_picture(format, size.width, size.height, all_contents[seed % 5], seed)})
        expect_picture(filter.process(picture, all_layouts[seed % std::size(all_layouts)]),
                       guided(picture, how), how.description());
    }
  }
}

TEST(test_guided_as_made) {
  for (const char* name : {"GRAY8", "NV12", "BGRA", "I420_10LE", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter("cudaintegral", {{"output", "guided"}});
    filter.accept_caps(format, 48, 27, colorimetry(format, false));
    const Picture picture = noisy_picture(format, 48, 27, 3);
    const Integral how{Output::guided};
    const Picture out = filter.process(picture, odd_layout);
    expect_picture(out, guided(picture, how), "as made");
    fail_unless(!difference(out, picture).empty(), "%s: the filter changed nothing", name);
  }
}

// Only the regions change.
TEST(test_guided_in_regions) {
  for (const char* name : {"GRAY8", "NV12", "BGRA"}) {
    const FormatSpec& format = format_named(name);
    const Integral how = guided_filter();
    FilterHarness filter("cudaintegral", how.properties());
    filter.set("regions", "0,0,96,10");
    filter.accept_caps(format, 96, 54, colorimetry(format, false));
    const Picture picture = noisy_picture(format, 96, 54, 3), whole = guided(picture, how);
    const Picture out = filter.process(picture, odd_layout);
    for (int x = 0; x < 96; ++x) {
      fail_unless_equals_int(out.sample(0, x, 9), whole.sample(0, x, 9));
      fail_unless_equals_int(out.sample(0, x, 10), picture.sample(0, x, 10));
    }
  }
}

TEST(test_formats_with_the_same_samples_agree, .times(std::size(formats_of_the_same_samples))) {
  const FormatSpec& one = format_named(formats_of_the_same_samples[index][0]);
  const FormatSpec& other = format_named(formats_of_the_same_samples[index][1]);
  const Picture a = make_picture(one, 75, 53, Content::natural, 21);
  for (Output output : gray_outputs) {
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
  for (Output output : gray_outputs) {
    FilterHarness filter("cudaintegral", {{"output", nick_of(output)}});
    filter.accept_caps(format, 36, 26, colorimetry(format, false) + ", interlace-mode=interleaved");
    expect_gray_picture(filter, picture, with_radius(output, 7), natural_format(picture, output));
  }
  FilterHarness filter("cudaintegral", denoising(40).properties());
  filter.accept_caps(format, 36, 26, colorimetry(format, false) + ", interlace-mode=interleaved");
  expect_picture(filter.process(picture), denoised(picture, denoising(40)), "interleaved");
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
    how.sauvola = random.below(2) == 0;
    how.ratio = random.below(257) / 256.0;
    how.k = random.below(257) / 256.0;
    how.range = random.below(2) == 0 ? 0 : random.log_uniform(0.1, 1000);
    how.search = 1 + 2 * random.below(6);
    how.patch = 1 + 2 * random.below(4);
    how.strength = random.below(6) == 0 ? 0 : random.log_uniform(0.5, 255);
    how.invert = random.below(3) == 0;
    how.epsilon = random.below(6) == 0 ? 0 : random.log_uniform(0.5, 65025);
    how.limited = format.family != Family::rgb && random.below(2) == 1;
    const double maximum = how.output == Output::denoise ? 40 : 200;
    const int width = static_cast<int>(random.log_uniform(1, maximum));
    const int height = static_cast<int>(random.log_uniform(1, maximum));
    const Layout layout = random.any_layout();

    FilterHarness filter("cudaintegral", how.properties());
    const bool picture_of_table = is_table(how.output) && random.below(2) == 0;
    if (picture_of_table)
      filter.accept_downstream("video/x-raw");
    filter.accept_caps(format, width, height, colorimetry(format, how.limited));
    const Picture picture = make_picture(format, width, height, random.one_of(all_contents), seed);
    if (keeps_format(how.output))
      expect_picture(filter.process(picture, layout), filtered(picture, how),
                     "seed " + std::to_string(seed) + ": " + how.description());
    else if (is_table(how.output) && !picture_of_table)
      expect_tensor(filter, picture, how, layout);
    else
      expect_gray_picture(filter, picture, how, natural_format(picture, how.output), layout);
  }
}

TEST(test_photographs, .times(std::size(photographs)).unless(unless_photographs())) {
  const Photograph& photograph = photographs[index];
  const auto through = [&](const Integral& how, const char* format) {
    return photograph_through(
        photograph, format_named(format), "",
        "cudaintegral backend=" + test_backend() + " " + text_of(how.properties()));
  };
  for (const Integral& how : various_thresholds) {
    const auto [before, after] = through(how, "GRAY8");
    expect_picture(after, gray_picture_of(before, how, format_named("GRAY8")), photograph.file);
  }
  for (const char* format : {"GRAY8", "GRAY16_LE"})
    for (Output output : {Output::mean, Output::stddev}) {
      const Integral how = with_radius(output, 20);
      const auto [before, after] = through(how, format);
      expect_picture(after, gray_picture_of(before, how, format_named(format)), photograph.file);
    }
}
