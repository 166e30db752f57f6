// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests integral images on the GPU with CUDAVISION_TEST_DELAYS. The macro also selects one block
// per multiprocessor and the smallest tiles.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cuda/integral/integral.h"
#include "cuda/sync/tileexchange.h"
#include "tests/kernels/common/allocations/watched_device.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {
namespace {

TileGrid grid_of(int width, int height) {
  TileGrid grid;
  grid.tile_width = 128;
  grid.tile_height = 32;
  grid.columns = (width + grid.tile_width - 1) / grid.tile_width;
  grid.rows = (height + grid.tile_height - 1) / grid.tile_height;
  return grid;
}

class TileExchangeOnCard : public testing::Test {
 protected:
  void SetUp() override { CUDAVISION_NEEDS_CUDA(); }

  /// Computes a frame's table `runs` times, each time after overwriting the published words.
  static void run(int width, int height, int runs) {
    CudaTestDevice card;
    WatchedDevice watched(*card);
    const auto cpu = make_cpu_device();
    const FrameLayout layout = gray_layout(width, height);

    Random random(settings().seed);
    std::vector<std::uint8_t> picture(static_cast<std::size_t>(width) * height);
    for (auto& value : picture)
      value = static_cast<std::uint8_t>(random.next() >> 56);
    const auto frame = [&](const std::uint8_t* data) {
      return frame_in(layout, dense_placement(layout), data);
    };
    const auto table = [&](std::uint32_t* data) {
      const int row_bytes = (width + 1) * 4;
      return View<std::uint8_t>{reinterpret_cast<std::uint8_t*>(data), row_bytes, height + 1,
                                row_bytes};
    };
    const std::size_t entries = static_cast<std::size_t>(width + 1) * (height + 1);
    std::vector<std::uint32_t> expected(entries), actual(entries);
    integral::Integral(*cpu, layout, {}).run(frame(picture.data()), table(expected.data()));

    const DeviceBlock<std::uint8_t> in(*card, picture);
    const DeviceBlock<std::uint32_t> out(*card, actual);
    integral::Integral integral(watched, layout, {});
    const std::size_t count = grid_of(width, height).words();
    std::uint32_t* words = watched.allocation(count * sizeof(std::uint32_t));
    std::uint32_t* state = watched.allocation(3 * sizeof(std::uint32_t));
    ASSERT_NE(words, nullptr) << "no allocation has the size of the exchange's words";
    ASSERT_NE(state, nullptr) << "no allocation has the size of the epoch's state";

    for (int i = 0; i < runs; ++i) {
      card->fill(bytes_of(out.data(), entries * 4), static_cast<std::uint8_t>(i));
      std::uint32_t before[2];
      card->download(bytes_of(state, sizeof before), bytes_of(before, sizeof before));
      card->finish();
      // The two highest bits of each byte hold any epoch except the next run's.
      const std::uint32_t epoch = (before[0] + 1 + 1 + random.between(0, 2)) % 4;
      card->fill(
          bytes_of(words, count * 4),
          static_cast<std::uint8_t>(epoch << 6 | static_cast<unsigned>(random.between(0, 63))));
      integral.run(frame(in.data()), table(out.data()));
      card->download(bytes_of(out.data(), entries * 4), bytes_of(actual.data(), entries * 4));
      card->finish();
      ASSERT_EQ(std::memcmp(actual.data(), expected.data(), entries * 4), 0) << "run " << i;
    }
  }
};

TEST_F(TileExchangeOnCard, TenThousandRunsWithDelays) {
  CUDAVISION_NEEDS_TRUE_TIMING();
  // About one tile per multiprocessor, in rows of six tiles.
  run(6 * 128, (cuda_multiprocessors() + 5) / 6 * 32, 10000);
}

TEST_F(TileExchangeOnCard, FiftyTimesAsManyTilesAsBlocks) {
  CUDAVISION_NEEDS_TRUE_TIMING();
  run(50 * 128 - 3, cuda_multiprocessors() * 32 - 5, 20);
}

TEST_F(TileExchangeOnCard, SmallFrames) {
  run(1, 1, 200);
  run(131, 17, 200);
  run(1031, 7, 200);
}

}  // namespace
}  // namespace cudavision::test
