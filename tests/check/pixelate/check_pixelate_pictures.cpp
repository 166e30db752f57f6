// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pixels of cudapixelate with the definition, for every format and many sizes, memory
// layouts and settings.
#include "tests/check/common/definitions/pixelatedefinition.h"
#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

Pixelation mosaic(int block_size, bool hide_alpha = true) {
  return {false, block_size, 0xff000000, hide_alpha};
}

Pixelation solid(std::uint32_t color, bool hide_alpha = true) {
  return {true, 16, color, hide_alpha};
}

const std::vector<Pixelation> various_settings = {
    mosaic(2),         mosaic(7),         mosaic(16, false),       mosaic(256),
    solid(0xff000000), solid(0x40c08020), solid(0x00ffffff, false)};

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
  FilterHarness filter("cudapixelate");
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
        for (Pixelation how : various_settings) {
          how.limited = limited;
          how.fields = picture.interlaced;
          filter.set(how.properties());
          const Layout& layout =
              all_layouts[++layout_number % static_cast<int>(std::size(all_layouts))];
          expect_picture(filter.process(picture, layout), pixelated(picture, how),
                         how.description());
        }
      }
}

// Outside the regions, the output has the input's bits; inside, nothing of the input is left.
TEST(test_regions, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudapixelate");
  filter.accept_caps(format, 53, 41, colorimetry(format, false));
  const Picture picture = with_valid_chroma(make_picture(format, 53, 41, Content::random, 3));
  for (const Pixelation& how : {mosaic(8), mosaic(5), solid(0xff3060c0)})
    for (const Regions& regions :
         {rectangles({{3, 5, 20, 16}, {31, 7, 32, 8}}), some_regions(), inverted(some_regions())}) {
      filter.set(how.properties());
      filter.set(properties_of(regions));
      const Picture expected = in_regions(
          picture, [&](const Picture& part) { return pixelated(part, how); }, regions, false);
      expect_picture(filter.process(picture), expected, how.description());
    }
}

// The methods change from frame to frame, and nothing renegotiates.
TEST(test_changes_while_playing) {
  const FormatSpec& format = format_named("I420");
  FilterHarness filter("cudapixelate");
  filter.accept_caps(format, 64, 48, colorimetry(format, false));
  const Picture picture = make_picture(format, 64, 48, Content::natural, 4);
  Pixelation how;
  for (int i = 0; i < 12; ++i) {
    how.solid = i % 3 == 2;
    how.block_size = 4 + 5 * i;
    how.color = 0xff000000u | static_cast<std::uint32_t>(i * 1234567);
    filter.set(how.properties());
    expect_picture(filter.process(picture), pixelated(picture, how), how.description());
  }
  fail_unless_equals_int(filter.messages().complaints(), 0);
}

// Invalid settings do not uncover a picture that is hidden.
TEST(test_impossible_settings_uncover_nothing) {
  const FormatSpec& format = format_named("I420");
  const Pixelation how = mosaic(8);
  FilterHarness filter("cudapixelate", how.properties());
  filter.accept_caps(format, 64, 48, colorimetry(format, false));
  const Picture picture = make_picture(format, 64, 48, Content::random, 4);
  filter.process(picture);
  filter.set({{"block-size", "1"}, {"method", "solid"}});
  expect_picture(filter.process(picture), pixelated(picture, how), "the last valid settings");
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
}

TEST(test_controlled_block_size) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter("cudapixelate", mosaic(2).properties());
  control(filter.element(), "block-size", Curve::steps, {{0, 4}, {GST_SECOND, 9}});
  filter.accept_caps(format, 40, 30, colorimetry(format, false));
  const Picture picture = make_picture(format, 40, 30, Content::random, 4);
  for (const int second : {0, 1}) {
    GstBuffer* in = to_buffer(picture);
    GST_BUFFER_PTS(in) = static_cast<GstClockTime>(second) * GST_SECOND;
    filter.expect(in, pixelated(picture, mosaic(second == 0 ? 4 : 9)), "a controlled size");
  }
}
