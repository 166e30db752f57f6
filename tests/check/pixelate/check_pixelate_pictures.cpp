// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pixels of cudapixelate with the definition, for every format and property.
// fuzz_pixelate compares random combinations, and check_regions what is outside of regions.
#include "tests/check/common/definitions/pixelatedefinition.h"
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
    {},          mosaic(2),         mosaic(7),         mosaic(16, false),
    mosaic(256), solid(0xff000000), solid(0x40c08020), solid(0x00ffffff, false)};

}  // namespace

TEST(test_settings, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudapixelate");
  unsigned seed = 1;
  for (const Size& size : {Size{1, 1}, Size{1, 37}, Size{5, 3}, Size{67, 33}})
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
