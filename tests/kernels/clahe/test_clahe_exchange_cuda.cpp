// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the exchange of counts and tables between blocks; see sync/test_exchange_cuda.cpp.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cuda/clahe/clahe.h"
#include "tests/kernels/common/allocations/watched_device.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {
namespace {

using namespace clahe;

/// Equalises two frames in turn, so that stale counts or tables give wrong results.
void run_in_turn(int width, int height, const Tiles& tiles, int runs, int bits = 8) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_TRUE_TIMING();
  CudaTestDevice card;
  const auto cpu = make_cpu_device();
  const FrameLayout layout = gray_layout(width, height, bits);
  const std::size_t size = static_cast<std::size_t>(width * layout.sample_bytes()) * height;
  Parameters parameters;
  parameters.high = (1 << bits) - 1;
  const auto frame = [&](std::uint8_t* data) {
    return frame_in(layout, dense_placement(layout), data);
  };
  Random random(settings().seed);
  std::vector<std::uint8_t> pictures[2], expected[2], actual(size);
  std::vector<DeviceBlock<std::uint8_t>> in;
  for (int p = 0; p < 2; ++p) {
    pictures[p].resize(size);
    expected[p].resize(size);
    for (auto& value : pictures[p])
      value = static_cast<std::uint8_t>((random.next() >> 57) + (p == 0 ? 0 : 100));
    Clahe(*cpu, layout, tiles, parameters)
        .run(frame(pictures[p].data()), frame(expected[p].data()));
    in.emplace_back(*card, pictures[p]);
  }
  const DeviceBlock<std::uint8_t> out(*card, actual);
  Clahe operation(*card, layout, tiles, parameters);
  for (int i = 0; i < runs; ++i) {
    card->fill(bytes_of(out.data(), size), static_cast<std::uint8_t>(i));
    operation.run(frame(in[i % 2].data()), frame(out.data()));
    card->download(bytes_of(out.data(), size), bytes_of(actual.data(), size));
    card->finish();
    ASSERT_EQ(std::memcmp(actual.data(), expected[i % 2].data(), size), 0) << "run " << i;
  }
}

TEST(ClaheExchangeOnCard, TenThousandRunsWithDelays) {
  run_in_turn(640, 480, {4, 3}, 10000);
}

TEST(ClaheExchangeOnCard, AFullGrid) {
  run_in_turn(1920, 1080, {8, 8}, 300);
}

TEST(ClaheExchangeOnCard, OneTile) {
  run_in_turn(800, 600, {1, 1}, 1000);
}

TEST(ClaheExchangeOnCard, RangesOfSixteenBits) {
  run_in_turn(640, 480, {8, 8}, 300, 16);
}

TEST(ClaheExchangeOnCard, RangesInSeveralRounds) {
  run_in_turn(640, 480, {16, 16}, 30, 16);
}

}  // namespace
}  // namespace cudavision::test
