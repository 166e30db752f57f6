// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pixels of cudadenoise with the definition, for every format and many sizes, memory
// layouts and settings.
#include <cmath>
#include <random>

#include "tests/check/common/definitions/denoisedefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/noisypicture.h"
#include "tests/check/common/pictures/random.h"

using namespace check;

TEST(test_formats_and_sizes, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudadenoise");
  unsigned seed = 1;
  for (const Size& size : {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{1, 23}, Size{21, 1}, Size{5, 3},
                           Size{33, 26}, Size{50, 9}}) {
    filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
    for (const Denoising& how : {denoising(10), denoising(30, 7, 1), denoising(3.3, 3, 7),
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

TEST(test_as_made) {
  for (const char* name : {"GRAY8", "NV12", "BGRA", "I420_10LE", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter("cudadenoise");
    filter.accept_caps(format, 48, 27, colorimetry(format, false));
    const Picture picture = noisy_picture(format, 48, 27, 3);
    const Denoising how;
    const Picture out = filter.process(picture, odd_layout);
    expect_picture(out, denoised(picture, how), "as made");
    fail_unless(!difference(out, picture).empty(), "%s: denoising changed nothing", name);
  }
}

// Denoising removes noise and keeps edges.
TEST(test_removes_noise) {
  const FormatSpec& format = format_named("GRAY8");
  std::mt19937 random(1);
  const Picture picture = picture_with(format, 64, 48, [&](int, int x, int) {
    return (x < 32 ? 60 : 180) + static_cast<int>(random() % 21) - 10;
  });
  FilterHarness filter("cudadenoise");
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

// Interleaved fields are treated as one picture.
TEST(test_interleaved_fields) {
  const FormatSpec& format = format_named("I420");
  Picture picture = make_picture(format, 36, 26, Content::natural, 1);
  picture.interlaced = true;
  FilterHarness filter("cudadenoise", denoising(40).properties());
  filter.accept_caps(format, 36, 26, colorimetry(format, false) + ", interlace-mode=interleaved");
  expect_picture(filter.process(picture), denoised(picture, denoising(40)), "interleaved");
}

// Tests random combinations. A failure prints its seed.
TEST(test_random_cases, .times(10)) {
  for (unsigned i = 0; i < 6; ++i) {
    const unsigned seed = 1000u * static_cast<unsigned>(index) + i;
    Random random(seed);
    const FormatSpec& format = random.any_format();
    const double strength = random.below(6) == 0 ? 0 : random.log_uniform(0.5, 255);
    const Denoising how = denoising(strength, 1 + 2 * random.below(6), 1 + 2 * random.below(4));
    const int width = static_cast<int>(random.log_uniform(1, 40));
    const int height = static_cast<int>(random.log_uniform(1, 40));
    const Layout layout = random.any_layout();
    FilterHarness filter("cudadenoise", how.properties());
    filter.accept_caps(format, width, height, colorimetry(format, false));
    const Picture picture = make_picture(format, width, height, random.one_of(all_contents), seed);
    expect_picture(filter.process(picture, layout), denoised(picture, how),
                   "seed " + std::to_string(seed) + ": " + how.description());
  }
}
