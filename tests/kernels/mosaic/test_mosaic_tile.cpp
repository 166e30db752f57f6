// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the blocks of the CUDA kernel on the host, and compares the result with the definition.
#include <algorithm>

#include "cuda/mosaic/launch.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/mosaic/mosaic_case.h"

namespace cudavision::test {
namespace {

using namespace mosaic;

constexpr int warps = 3;

template <class Function>
void for_each_part(const MosaicTile& tile, const Function& function) {
  for (int warp = 0; warp < warps; ++warp)
    for (int lane = 0; lane < warp_lanes; ++lane)
      for (int x = tile.first_chunk() + lane * Vec16::bytes; x < tile.end;
           x += warp_lanes * Vec16::bytes)
        function(x, tile.top + warp);
}

Vec16 loaded(const MosaicPlane& plane, int x, int y) {
  Vec16 chunk;
  chunk.load(plane.in + static_cast<std::ptrdiff_t>(y) * plane.in_pitch + x,
             std::min(plane.row_bytes - x, Vec16::bytes), false);
  return chunk;
}

template <int kSampleBytes>
void run_tile(const MosaicArguments& a, int number) {
  const MosaicTile tile(a, plane_of_tile(a, number), number);
  const MosaicPlane& plane = tile.plane;
  ASSERT_LE(tile.slots(), MosaicArguments::max_slots);
  ASSERT_TRUE(tile.is_needed(a));
  std::vector<std::uint32_t> values(static_cast<std::size_t>(tile.slots()), 0);
  for_each_part(tile, [&](int x, int first) {
    ChunkSums<kSampleBytes> sums;
    for (int y = first; y < tile.bottom; y += warps)
      sums.add(loaded(plane, x, y), a);
    add_to_slots(a, tile, x, sums, [&](int slot, std::uint32_t sum) {
      values.at(static_cast<std::size_t>(slot)) += sum;
    });
  });
  for (int slot = 0; slot < tile.slots(); ++slot) {
    auto& value = values[slot];
    const int samples = tile.samples(a, slot);
    if (a.solid)
      value = plane.value[slot % plane.channel_count];
    else if (samples > 0)
      value = mean_of(value, static_cast<std::uint32_t>(samples));
    else
      ASSERT_EQ(value, 0u);
  }
  for_each_part(tile, [&](int x, int first) {
    const Replacement chunk = replacement<kSampleBytes>(
        a, tile, x, [&](int slot) { return values.at(static_cast<std::size_t>(slot)); });
    for (int y = first; y < tile.bottom; y += warps)
      store_in_tile(chunk.keeps ? chunk.in_place_of(loaded(plane, x, y)) : chunk.result, tile, x,
                    plane.out + static_cast<std::ptrdiff_t>(y) * plane.out_pitch, false);
  });
}

class MosaicTiles : public LayoutCases {};

TEST_P(MosaicTiles, MakeTheDefinedFrame) {
  for_each_case(make_mosaic_case, [](const MosaicCase& test) {
    SCOPED_TRACE(describe(test));
    const auto input = input_block(test);
    const auto expected = defined_output(test, input, poison);
    std::vector<std::uint8_t> output(test.out.bytes, poison);
    MosaicLaunch launch(test.layout, test.parameters);
    const Frame out = frame_in(test.layout, test.out, output.data());
    launch.set_frames(frame_in(test.layout, test.in, input.data()), out, nullptr);
    for (int tile = 0; tile < launch.arguments.tile_count; ++tile)
      if (test.layout.bits > 8)
        run_tile<2>(launch.arguments, tile);
      else
        run_tile<1>(launch.arguments, tile);
    // The kernel does not copy rows below the last row of samples.
    for (int p = 0; p < test.layout.plane_count; ++p) {
      const auto number = static_cast<std::size_t>(p);
      const int rows = regions::plane_bytes(test.layout, p).sample_rows;
      const View<std::uint8_t> plane = out.planes[number];
      for (int y = rows; y < plane.height; ++y)
        std::copy_n(frame_in(test.layout, test.in, input.data()).planes[number].row(y), plane.width,
                    plane.row(y));
    }
    ASSERT_EQ(difference(test, expected, output), "");
  });
}

INSTANTIATE_TEST_SUITE_P(Layouts, MosaicTiles, every_layout(), layout_name);

constexpr Range<int> block_size = Parameters::Ranges::block_size;

TEST(MosaicArithmetic, FindsTheBlockOfEveryPixel) {
  for (int size = block_size.min; size <= block_size.max; ++size) {
    const MosaicLaunch launch(gray_layout(65535, 1), blocks_of(size));
    for (int pixel = 0; pixel < 65535 + 16; ++pixel)
      ASSERT_EQ(block_of(launch.arguments, pixel), pixel / size) << pixel << " div " << size;
  }
}

}  // namespace
}  // namespace cudavision::test
