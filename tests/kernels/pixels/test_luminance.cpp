// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests the luminance of every 8-bit colour.

#include <array>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/histequalize/histequalize_definition.h"
#include "tests/kernels/pixels/colour_cube.h"

namespace cudavision::test {
namespace {

void expect_luminance(Device& device, const ColourCube& cube) {
  const DeviceBlock<std::uint8_t> colours(device, cube.block);
  const ConstFrame whole = frame_in(cube.layout, cube.placement, colours.data());

  const DeviceBlock<std::uint32_t> bins(device, std::vector<std::uint32_t>(256, 0xcdcdcdcd));
  histequalize::Histogram(device, cube.layout).run(whole, {bins.data(), 256, 1, 1024});
  std::vector<std::uint32_t> expected(256, 0);
  for (int red = 0; red < 256; ++red)
    for (int green = 0; green < 256; ++green)
      for (int blue = 0; blue < 256; ++blue)
        ++expected[static_cast<std::size_t>(ColourCube::luminance(red, green, blue))];
  device.finish();
  ASSERT_EQ(bins.values(), expected) << "the whole cube";

  // Errors that cancel out over the whole cube cannot do so within a row, because luminance never
  // falls along it.
  const DeviceBlock<std::uint32_t> row_bins(
      device, std::vector<std::uint32_t>(std::size_t{65536} * 256, 0xcdcdcdcd));
  histequalize::Histogram count(device, cube.row_layout);
  for (int red = 0; red < 256; ++red)
    for (int green = 0; green < 256; ++green)
      count.run(cube.row_of(colours.data(), red, green),
                {row_bins.data() + (std::ptrdiff_t{red} * 256 + green) * 256, 256, 1, 1024});
  device.finish();
  const std::vector<std::uint32_t> counted = row_bins.values();
  for (int red = 0; red < 256; ++red)
    for (int green = 0; green < 256; ++green) {
      std::array<std::uint32_t, 256> row{};
      for (int blue = 0; blue < 256; ++blue)
        ++row[static_cast<std::size_t>(ColourCube::luminance(red, green, blue))];
      const auto start = counted.begin() + (std::ptrdiff_t{red} * 256 + green) * 256;
      ASSERT_TRUE(std::equal(row.begin(), row.end(), start))
          << "colours of red " << red << " and green " << green;
    }
}

/// Tests equalisation as well, because it computes the luminance again when it applies the table.
void expect_equalized(Device& device, const ColourCube& cube) {
  const DeviceBlock<std::uint8_t> colours(device, cube.block);
  const DeviceBlock<std::uint8_t> out(device, std::vector<std::uint8_t>(cube.block.size(), 0xcd));
  histequalize::HistogramEqualize(device, cube.layout, {})
      .run(frame_in(cube.layout, cube.placement, colours.data()),
           frame_in(cube.layout, cube.placement, out.data()));
  std::vector<std::uint8_t> expected(cube.block.size(), 0xcd);
  defined_equalization(cube.layout, {}, frame_in(cube.layout, cube.placement, cube.block.data()),
                       frame_in(cube.layout, cube.placement, expected.data()));
  device.finish();
  EXPECT_TRUE(out.values() == expected);
}

class LuminanceOfEveryColour : public EitherDevice {
 protected:
  static void expect(void (*expectation)(Device&, const ColourCube&)) {
    CUDAVISION_NEEDS_PIXELS(1 << 24);
    on_device([=](Device& device) {
      for (const char* name : {"RGB", "xBGR", "GBR"}) {
        SCOPED_TRACE(name);
        expectation(device, ColourCube(name));
      }
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, LuminanceOfEveryColour, both_devices(), device_name);

TEST_P(LuminanceOfEveryColour, IsCounted) {
  expect(expect_luminance);
}

TEST_P(LuminanceOfEveryColour, IsEqualized) {
  expect(expect_equalized);
}

}  // namespace
}  // namespace cudavision::test
