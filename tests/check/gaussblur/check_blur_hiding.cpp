// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what hides a picture: method=mosaic and method=solid.
#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

Blur mosaic(int block_size) {
  Blur how;
  how.method = Method::mosaic;
  how.block_size = block_size;
  return how;
}

Blur solid(std::uint32_t color) {
  Blur how;
  how.method = Method::solid;
  how.solid_color = color;
  return how;
}

Blur with_alpha_kept(Blur how) {
  how.blur_alpha = false;
  return how;
}

const std::vector<Blur> various_settings = {
    mosaic(2),         mosaic(7),         with_alpha_kept(mosaic(16)),       mosaic(256),
    solid(0xff000000), solid(0x40c08020), with_alpha_kept(solid(0x00ffffff))};

Regions some_regions() {
  Regions regions = rectangles({{3, 5, 20, 16}, {15, 11, 40, 90}, {-8, 20, 5, 28}});
  regions.shape = RegionShape::ellipse;
  regions.feather = 5;
  return regions;
}

Regions inverted(Regions regions) {
  regions.invert = true;
  return regions;
}

}  // namespace

TEST(test_formats_and_sizes, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudagaussblur");
  unsigned seed = 1;
  for (const Size& size : {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{1, 37}, Size{41, 1}, Size{5, 3},
                           Size{16, 16}, Size{67, 33}})
    for (const char* mode : {"progressive", "interleaved"})
      for (bool limited : {false, true}) {
        if (limited && format.family == Family::rgb)
          continue;
        filter.accept_caps(format, size.width, size.height,
                           colorimetry(format, limited) + ", interlace-mode=" + mode);
        Picture picture = make_picture(format, size.width, size.height, Content::random, seed++);
        picture.interlaced = std::string(mode) == "interleaved";
        int layout_number = size.width;
        for (Blur how : various_settings) {
          how.limited = limited;
          how.fields = picture.interlaced;
          filter.set(how.properties());
          const Layout& layout =
              all_layouts[++layout_number % static_cast<int>(std::size(all_layouts))];
          expect_picture(filter.process(picture, layout), blurred(picture, how), how.description());
        }
      }
}

// Outside the regions, the output has the input's bits; inside, nothing of the input is left.
TEST(test_regions, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudagaussblur");
  filter.accept_caps(format, 53, 41, colorimetry(format, false));
  const Picture picture = with_valid_chroma(make_picture(format, 53, 41, Content::random, 3));
  for (const Blur& how : {mosaic(8), mosaic(5), solid(0xff3060c0)})
    for (const Regions& regions :
         {rectangles({{3, 5, 20, 16}, {31, 7, 32, 8}}), some_regions(), inverted(some_regions())}) {
      filter.set(how.properties());
      filter.set(properties_of(regions));
      const Picture expected = in_regions(
          picture, [&](const Picture& part) { return blurred(part, how); }, regions, false);
      expect_picture(filter.process(picture), expected, how.description());
    }
}

// The default sigma blurs; a sigma of 0 passes frames unchanged, but hides nothing less.
TEST(test_methods_do_not_depend_on_sigma) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter("cudagaussblur", {{"sigma", "0"}});
  filter.accept_caps(format, 53, 41, colorimetry(format, false));
  const Picture picture = make_picture(format, 53, 41, Content::random, 4);
  for (Blur how : {mosaic(16), solid(0xff808080)}) {
    how.sigma = 0;
    filter.set(how.properties());
    expect_picture(filter.process(picture), blurred(picture, how), how.description());
  }
  filter.set("method", "gaussian");
  expect_picture(filter.process(picture), picture, "no blur");
}

// The methods change from frame to frame, and nothing renegotiates.
TEST(test_changes_while_playing) {
  const FormatSpec& format = format_named("I420");
  FilterHarness filter("cudagaussblur");
  filter.accept_caps(format, 64, 48, colorimetry(format, false));
  const Picture picture = make_picture(format, 64, 48, Content::natural, 4);
  Blur how{3};
  for (int i = 0; i < 12; ++i) {
    how.method = static_cast<Method>(i % 3);
    how.block_size = 4 + 5 * i;
    how.solid_color = 0xff000000u | static_cast<std::uint32_t>(i * 1234567);
    filter.set(how.properties());
    expect_picture(filter.process(picture), blurred(picture, how), how.description());
  }
  fail_unless_equals_int(filter.messages().complaints(), 0);
}

// Invalid settings of the blur do not uncover a picture that is hidden.
TEST(test_impossible_settings_uncover_nothing) {
  const FormatSpec& format = format_named("I420");
  const Blur how = mosaic(8);
  FilterHarness filter("cudagaussblur", how.properties());
  filter.accept_caps(format, 64, 48, colorimetry(format, false));
  const Picture picture = make_picture(format, 64, 48, Content::random, 4);
  filter.process(picture);
  filter.set({{"kernel-size", "6"}, {"method", "gaussian"}});
  expect_picture(filter.process(picture), blurred(picture, how), "the last valid settings");
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
}

TEST(test_controlled_block_size) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter("cudagaussblur", mosaic(2).properties());
  control(filter.element(), "block-size", Curve::steps, {{0, 4}, {GST_SECOND, 9}});
  filter.accept_caps(format, 40, 30, colorimetry(format, false));
  const Picture picture = make_picture(format, 40, 30, Content::random, 4);
  for (const int second : {0, 1}) {
    GstBuffer* in = to_buffer(picture);
    GST_BUFFER_PTS(in) = static_cast<GstClockTime>(second) * GST_SECOND;
    filter.expect(in, blurred(picture, mosaic(second == 0 ? 4 : 9)), "a controlled size");
  }
}
