// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests the luminance of every 8-bit colour.

#include <array>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/histequalize/histequalize_definition.h"

namespace cudavision::test {
namespace {

/// All 256³ colours as a picture of 65536 rows of 256 pixels. Each row has one pair of red and
/// green, and blue rises within it. The same bytes also form a picture of 4096×4096 pixels.
struct ColourCube {
  explicit ColourCube(const std::string& name)
      : row_layout(layout_named(name, 256, 1)), layout(layout_named(name, 4096, 4096)) {
    placement = dense_placement(layout);
    block.assign(placement.bytes, 0);
    for (int red = 0; red < 256; ++red)
      for (int green = 0; green < 256; ++green) {
        const Frame row = row_of(block.data(), red, green);
        for (int blue = 0; blue < 256; ++blue) {
          put(row, Role::red, blue, red);
          put(row, Role::green, blue, green);
          put(row, Role::blue, blue, blue);
        }
      }
  }

  template <class Byte>
  BasicFrame<Byte> row_of(Byte* start, int red, int green) const {
    BasicFrame<Byte> row;
    for (int p = 0; p < row_layout.plane_count; ++p) {
      const int bytes = row_layout.planes[p].row_bytes;
      row.planes[p] = {
          start + placement.planes[p].start + std::ptrdiff_t{256 * red + green} * bytes, bytes, 1,
          bytes};
    }
    return row;
  }

  void put(const Frame& row, Role role, int x, int value) const {
    const Channel& channel = row_layout.channels[static_cast<std::size_t>(row_layout.find(role))];
    row.planes[channel.plane].row(0)[channel.offset + channel.step * x] =
        static_cast<std::uint8_t>(value);
  }

  FrameLayout row_layout, layout;
  Placement placement;
  std::vector<std::uint8_t> block;
};

int luminance_of(int red, int green, int blue) {
  return (299 * red + 587 * green + 114 * blue) / 1000;
}

void expect_luminance(Device& device, const ColourCube& cube) {
  const DeviceBlock<std::uint8_t> colours(device, cube.block);
  const ConstFrame whole =
      frame_in(cube.layout, cube.placement, static_cast<const std::uint8_t*>(colours.data()));

  const DeviceBlock<std::uint32_t> bins(device, std::vector<std::uint32_t>(256, 0xcdcdcdcd));
  histequalize::Histogram(device, cube.layout).run(whole, {bins.data(), 256, 1, 1024});
  std::vector<std::uint32_t> expected(256, 0);
  for (int red = 0; red < 256; ++red)
    for (int green = 0; green < 256; ++green)
      for (int blue = 0; blue < 256; ++blue)
        ++expected[static_cast<std::size_t>(luminance_of(red, green, blue))];
  device.finish();
  ASSERT_EQ(bins.values(), expected) << "the whole cube";

  // Errors that cancel out over the whole cube cannot do so within a row, because luminance never
  // falls along it.
  const DeviceBlock<std::uint32_t> row_bins(
      device, std::vector<std::uint32_t>(std::size_t{65536} * 256, 0xcdcdcdcd));
  histequalize::Histogram count(device, cube.row_layout);
  for (int red = 0; red < 256; ++red)
    for (int green = 0; green < 256; ++green)
      count.run(cube.row_of(static_cast<const std::uint8_t*>(colours.data()), red, green),
                {row_bins.data() + (std::ptrdiff_t{red} * 256 + green) * 256, 256, 1, 1024});
  device.finish();
  const std::vector<std::uint32_t> counted = row_bins.values();
  for (int red = 0; red < 256; ++red)
    for (int green = 0; green < 256; ++green) {
      std::array<std::uint32_t, 256> row{};
      for (int blue = 0; blue < 256; ++blue)
        ++row[static_cast<std::size_t>(luminance_of(red, green, blue))];
      const auto start = counted.begin() + (std::ptrdiff_t{red} * 256 + green) * 256;
      ASSERT_TRUE(std::equal(row.begin(), row.end(), start))
          << "colours of red " << red << " and green " << green;
    }
}

class Luminance : public testing::TestWithParam<const char*> {};

TEST_P(Luminance, CpuCountsEveryColour) {
  CUDAVISION_NEEDS_PIXELS(1 << 24);
  const auto device = make_cpu_device();
  expect_luminance(*device, ColourCube(GetParam()));
}

TEST_P(Luminance, CudaCountsEveryColour) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1 << 24);
  CudaTestDevice device;
  expect_luminance(*device, ColourCube(GetParam()));
}

/// Tests equalisation as well, because it computes the luminance again when it applies the table.
void expect_equalized(Device& device, const ColourCube& cube) {
  const DeviceBlock<std::uint8_t> colours(device, cube.block);
  const DeviceBlock<std::uint8_t> out(device, std::vector<std::uint8_t>(cube.block.size(), 0xcd));
  histequalize::HistogramEqualize(device, cube.layout, {})
      .run(frame_in(cube.layout, cube.placement, static_cast<const std::uint8_t*>(colours.data())),
           frame_in(cube.layout, cube.placement, out.data()));
  std::vector<std::uint8_t> expected(cube.block.size(), 0xcd);
  defined_equalization(cube.layout, {}, frame_in(cube.layout, cube.placement, cube.block.data()),
                       frame_in(cube.layout, cube.placement, expected.data()));
  device.finish();
  EXPECT_TRUE(out.values() == expected);
}

TEST_P(Luminance, CpuEqualizesEveryColour) {
  CUDAVISION_NEEDS_PIXELS(1 << 24);
  const auto device = make_cpu_device();
  expect_equalized(*device, ColourCube(GetParam()));
}

TEST_P(Luminance, CudaEqualizesEveryColour) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1 << 24);
  CudaTestDevice device;
  expect_equalized(*device, ColourCube(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Layouts, Luminance, testing::Values("RGB", "xBGR", "GBR"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace cudavision::test
