// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pixels of cudagaussblur with the definition, for every format and many sizes, memory
// layouts and settings.
#include <algorithm>

#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pictures/random.h"

using namespace check;

namespace {

/// These settings differ from each other in every property: sigmas, sizes, edge, colour, alpha and
/// fine.
const std::vector<Blur> various_settings = {
    {},
    {7.3, 0.8, 0, 0, Edge::replicate},
    {0, 0, 5, 0, Edge::wrap},
    {-2.2, 0, 0, 0, Edge::reflect, 0xff000000, false},
    {3, 0, 0, 0, Edge::constant, 0x40c08020, true, true},
    {0, 0, 1, 31},
    {40, 0, 21, 15},
};

/// Sends one picture with every setting. The memory layouts alternate.
void expect_definition(FilterHarness& filter, const Picture& picture, bool limited,
                       const std::vector<Blur>& settings) {
  int layout_number = picture.width;
  for (Blur how : settings) {
    how.limited = limited;
    filter.set(how.properties());
    const Layout& layout = all_layouts[++layout_number % static_cast<int>(std::size(all_layouts))];
    expect_picture(filter.process(picture, layout), blurred(picture, how), how.description());
  }
}

/// The settings of a new element.
const Blur as_made;

}  // namespace

TEST(test_formats_and_sizes, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudagaussblur");
  unsigned seed = 1;
  for (const Size& size :
       {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{2, 2}, Size{1, 37}, Size{41, 1}, Size{5, 3},
        Size{16, 16}, Size{17, 9}, Size{33, 31}, Size{131, 6}, Size{7, 83}})
    for (bool limited : {false, true}) {
      if (limited && format.family == Family::rgb)
        continue;
      filter.accept_caps(format, size.width, size.height, colorimetry(format, limited));
      const Content content = seed % 2 == 0 ? Content::random : Content::natural;
      expect_definition(filter, make_picture(format, size.width, size.height, content, seed++),
                        limited, various_settings);
    }
}

TEST(test_as_made, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudagaussblur");
  filter.accept_caps(format, 45, 27, colorimetry(format, false));
  for (Content content : all_contents) {
    const Picture picture = make_picture(format, 45, 27, content, 3);
    expect_picture(filter.process(picture), blurred(picture, as_made), "as made");
  }
}

// The kernels are so much larger than the pictures that the border repeats many times.
TEST(test_edges) {
  for (const char* name : {"GRAY8", "NV12", "YUY2", "RGB", "BGRA", "P010_10LE", "GRAY16_LE"})
    for (const Size& size : {Size{3, 2}, Size{2, 5}, Size{1, 9}, Size{29, 13}}) {
      const FormatSpec& format = format_named(name);
      FilterHarness filter("cudagaussblur");
      filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
      const Picture picture = make_picture(format, size.width, size.height, Content::random, 5);
      std::vector<Blur> settings;
      for (Edge edge : all_edges)
        for (int kernel_size : {3, 9, 33, 127})
          settings.push_back({0, 0, kernel_size, 0, edge, 0xc0ffa020});
      expect_definition(filter, picture, false, settings);
    }
}

// Tests OpenCV's tables for small sizes, its sigma for larger ones, and sizes along one axis only.
TEST(test_kernel_sizes) {
  for (const char* name : {"GRAY8", "I420", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter("cudagaussblur");
    filter.accept_caps(format, 61, 43, colorimetry(format, false));
    const Picture picture = make_picture(format, 61, 43, Content::natural, 5);
    std::vector<Blur> settings;
    for (double sigma : {0.0, 0.4, 5.0, 127.0})
      for (int kernel_size : {1, 3, 5, 7, 9, 11, 17, 65, 1023}) {
        settings.push_back({sigma, 0, kernel_size, 0});
        settings.push_back({sigma, 0, 0, kernel_size});
      }
    expect_definition(filter, picture, false, settings);
  }
}

TEST(test_sigmas) {
  for (const char* name : {"GRAY8", "NV21", "BGR", "I420_10LE"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter("cudagaussblur");
    filter.accept_caps(format, 77, 51, colorimetry(format, false));
    const Picture picture = with_valid_chroma(make_picture(format, 77, 51, Content::natural, 5));
    std::vector<Blur> settings;
    for (double sigma : {0.0, 0.01, 0.1, 0.3, 0.5, 1.0, 1.1999, 2.0, 3.7, 10.0, 50.0, 127.0, -0.05,
                         -0.5, -1.5, -127.0})
      for (double sigma_y : {0.0, 0.2, 2.5, 127.0})
        settings.push_back({sigma, sigma_y});
    expect_definition(filter, picture, false, settings);
  }
}

// Sharpening a step exceeds the range on both sides and saturates.
TEST(test_sharpening_saturates) {
  for (const char* name : {"GRAY8", "ARGB", "P010_10LE", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    const Picture picture =
        picture_with(format, 40, 24, [&](int, int x, int) { return x < 20 ? 0 : format.peak(); });
    FilterHarness filter("cudagaussblur", {{"sigma", "-4"}});
    filter.accept_caps(format, 40, 24, colorimetry(format, false));
    const Picture sharp = filter.process(picture);
    for (int x = 0; x < 40; ++x)
      fail_unless(sharp.sample(0, x, 12) == picture.sample(0, x, 12), "the output is not the step");
  }
}

TEST(test_alpha_stays) {
  for (const char* name :
       {"RGBA", "BGRA", "ARGB", "ABGR", "ARGB64_LE", "RGBA64_LE", "RGB10A2_LE", "BGR10A2_LE"}) {
    const FormatSpec& format = format_named(name);
    const Picture picture = make_picture(format, 37, 22, Content::random, 8);
    FilterHarness filter("cudagaussblur", {{"sigma", "5"}, {"blur-alpha", "false"}});
    filter.accept_caps(format, 37, 22);
    const Picture out = filter.process(picture, odd_layout);
    const Place& alpha = format.others[0].place;
    int changed = 0;
    for (int y = 0; y < 22; ++y)
      for (int x = 0; x < 37; ++x) {
        fail_unless(out.sample_at(alpha, x, y) == picture.sample_at(alpha, x, y));
        changed += out.sample(0, x, y) != picture.sample(0, x, y);
      }
    fail_unless(changed > 700, "the colours were not blurred");
  }
}

// At a large sigma, a grating of single columns becomes gray; with 8 fraction bits, a trace
// remains.
TEST(test_fine) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture grating =
      picture_with(format, 400, 30, [](int, int x, int) { return x % 2 == 0 ? 255 : 0; });
  FilterHarness filter("cudagaussblur", {{"sigma", "30"}, {"sigma-y", "1"}});
  filter.accept_caps(format, 400, 30);
  int traces[2];
  for (bool fine : {false, true}) {
    Blur how{30, 1};
    how.fine = fine;
    filter.set(how.properties());
    const Picture out = filter.process(grating);
    expect_picture(out, blurred(grating, how), how.description());
    const auto [minimum, maximum] =
        std::minmax_element(out.planes[0].bytes.begin(), out.planes[0].bytes.end());
    traces[fine] = *maximum - *minimum;
  }
  fail_unless(traces[true] <= 1, "a trace of %d levels remains", traces[true]);
  fail_unless(traces[false] > traces[true]);
}

// The frames are large enough for several threads, blocks and row tails.
TEST(test_large_frames) {
  for (const char* name : {"GRAY8", "NV12", "RGB", "BGRx", "P010_10LE", "GRAY16_LE", "UYVY"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter("cudagaussblur", {{"sigma", "2.5"}});
    filter.accept_caps(format, 1283, 721, colorimetry(format, false));
    const Picture picture = make_picture(format, 1283, 721, Content::natural, 9);
    expect_picture(filter.process(picture, odd_layout), blurred(picture, {2.5}), "large");
  }
}

TEST(test_extreme_shapes) {
  FilterHarness filter("cudagaussblur");
  for (const char* name : {"GRAY8", "NV12", "RGB", "GRAY16_LE", "YUY2"})
    for (const Size& size : {Size{32767, 1}, Size{1, 32767}}) {
      const FormatSpec& format = format_named(name);
      filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
      const Picture picture = make_picture(format, size.width, size.height, Content::natural, 17);
      expect_picture(filter.process(picture), blurred(picture, as_made), "extreme shape");
    }
}

TEST(test_formats_with_the_same_samples_agree, .times(std::size(formats_of_the_same_samples))) {
  const FormatSpec& one = format_named(formats_of_the_same_samples[index][0]);
  const FormatSpec& other = format_named(formats_of_the_same_samples[index][1]);
  const Picture a = make_picture(one, 75, 53, Content::natural, 21);
  FilterHarness first("cudagaussblur", {{"sigma", "3"}}), second("cudagaussblur", {{"sigma", "3"}});
  first.accept_caps(one, 75, 53, colorimetry(one, false));
  second.accept_caps(other, 75, 53, colorimetry(other, false));
  expect_picture(second.process(converted(a, other)), converted(first.process(a), other),
                 std::string("as in ") + one.name);
}

// Tests random combinations. A failure prints its seed.
TEST(test_random_cases, .times(10)) {
  FilterHarness filter("cudagaussblur");
  for (unsigned i = 0; i < 30; ++i) {
    const unsigned seed = 1000u * static_cast<unsigned>(index) + i;
    Random random(seed);
    const FormatSpec& format = random.any_format();
    const int width = static_cast<int>(random.log_uniform(1, 200));
    const int height = static_cast<int>(random.log_uniform(1, 200));
    Blur how;
    how.limited = format.family != Family::rgb && random.below(2) == 1;
    how.fields = random.below(4) == 0;
    how.sigma =
        random.below(6) == 0 ? 0 : random.log_uniform(0.05, 30) * (random.below(4) == 0 ? -1 : 1);
    how.sigma_y = random.below(3) == 0 ? random.log_uniform(0.05, 30) : 0;
    how.kernel_size = random.below(3) == 0 ? 1 + 2 * random.below(40) : 0;
    how.kernel_size_y = random.below(3) == 0 ? 1 + 2 * random.below(40) : 0;
    how.edge = random.one_of(all_edges);
    how.color = random.any_seed();
    how.blur_alpha = random.below(3) != 0;
    how.fine = random.below(3) == 0;
    const Layout layout = random.any_layout();
    const Content content = random.one_of(all_contents);
    filter.accept_caps(
        format, width, height,
        colorimetry(format, how.limited) + (how.fields ? ", interlace-mode=interleaved" : ""));
    filter.set(how.properties());
    Picture picture = make_picture(format, width, height, content, seed);
    picture.interlaced = how.fields;
    expect_picture(filter.process(picture, layout), blurred(picture, how),
                   "seed " + std::to_string(seed) + ": " + how.description());
  }
}

TEST(test_photographs, .times(std::size(photographs)).unless(unless_photographs())) {
  const Photograph& photograph = photographs[index];
  const auto expect_blurred = [&](const char* format, const std::string& more_caps, double sigma) {
    const Blur how{sigma};
    const std::string element =
        "cudagaussblur backend=" + test_backend() + " " + text_of(how.properties());
    const auto [before, after] =
        photograph_through(photograph, format_named(format), more_caps, element);
    expect_picture(after, blurred(before, how), photograph.file + (" " + element));
  };
  expect_blurred("GRAY8", "", 4);
  expect_blurred("NV12", ",colorimetry=bt601", 1.5);
  expect_blurred("BGRx", "", -2);
  expect_blurred("I420_10LE", ",colorimetry=bt709", 2);
}
