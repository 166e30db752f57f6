// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pixels of cudahistequalize with method=clahe with the definition, for every format,
// many sizes, memory layouts, ranges, grids and settings. fuzz_histequalize compares random ones.

#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

Equalization with_tiles(int x, int y) {
  Equalization how;
  how.adaptive = true;
  how.tiles_x = x;
  how.tiles_y = y;
  return how;
}

Properties all_properties(const Equalization& how) {
  Properties properties = how.tile_properties();
  for (const Property& property : how.properties())
    properties.push_back(property);
  return properties;
}

/// The definition is slow where many tiles have 65536 bins.
Equalization default_tiles(const FormatSpec& format) {
  return format.bits > 10 ? with_tiles(3, 2) : with_tiles(8, 8);
}

void expect_equalized(FilterHarness& filter, const Picture& picture, const Equalization& how,
                      const Layout& layout = {}) {
  expect_picture(filter.process(picture, layout), equalized(picture, how),
                 text_of(all_properties(how)) + std::to_string(picture.width) + "x" +
                     std::to_string(picture.height) + (how.limited ? ", limited" : ", full"));
}

constexpr Size sizes[] = {{1, 1}, {2, 1}, {1, 37}, {5, 3}, {17, 9}, {64, 48}, {133, 61}};

}  // namespace

TEST(test_sizes_and_settings, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  Equalization how = default_tiles(format);
  FilterHarness filter(all_properties(how));
  unsigned seed = 1;
  for (const Size& size : sizes)
    for (bool limited : {false, true}) {
      if (limited && format.family == Family::rgb)
        continue;
      ++seed;
      how.limited = limited;
      filter.accept_caps(format, size.width, size.height, colorimetry(format, limited));
      const Picture picture = make_picture(format, size.width, size.height,
                                           seed % 2 ? Content::random : Content::natural, seed);
      for (bool each_channel : {false, true}) {
        if (each_channel && !format.has_single_colors())
          continue;
        how.each_channel = each_channel;
        how.clip_limit = seed % 3 * 1.5;
        how.strength = seed % 2 ? 1 : 0.3;
        filter.set(how.properties());
        expect_equalized(filter, picture, how, all_layouts[seed % std::size(all_layouts)]);
      }
      filter.set("channels", "luma");  // the next caps may have a YUV format
    }
  fail_unless_equals_int(filter.messages().complaints(), 0);
}

TEST(test_grids) {
  for (const Size& tiles : {Size{1, 1}, Size{2, 1}, Size{3, 7}, Size{8, 8}, Size{64, 64}}) {
    const Equalization how = with_tiles(tiles.width, tiles.height);
    FilterHarness filter(all_properties(how));
    for (const char* name : {"GRAY8", "NV12", "RGBA"}) {
      const FormatSpec& format = format_named(name);
      filter.accept_caps(format, 200, 120, colorimetry(format, false));
      expect_equalized(filter, make_picture(format, 200, 120, Content::natural, 7), how,
                       odd_layout);
    }
  }
}

// A change of the grid waits for new caps or a start.
TEST(test_grid_waits_for_a_start) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = make_picture(format, 90, 70, Content::natural, 3);
  const Equalization first = with_tiles(4, 4), second = with_tiles(2, 5);
  FilterHarness filter(all_properties(first));
  filter.accept_caps(format, 90, 70, colorimetry(format, false));
  expect_equalized(filter, picture, first);
  filter.set(second.tile_properties());
  expect_equalized(filter, picture, first);
  filter.restart();
  filter.accept_caps(format, 90, 70, colorimetry(format, false));
  expect_equalized(filter, picture, second);
  fail_unless_equals_int(filter.messages().complaints(), 0);
}
