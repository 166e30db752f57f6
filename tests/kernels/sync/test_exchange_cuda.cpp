// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the exchange of counts between blocks on the GPU. No sanitizer detects races in device
// memory, so with CUDAVISION_TEST_DELAYS, kernels wait for a random time before each step.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cuda/histequalize/histequalize.h"
#include "cuda/sync/histogramexchange.h"
#include "tests/kernels/common/allocations/watched_device.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {
namespace {

/// Gives access to the constants of HistogramExchange: positions and numbers of words in the state.
struct NoAtomics {
  using Word = std::uint32_t;
};
using Exchange = HistogramExchange<NoAtomics, 256, 4>;

class ExchangeOnCard : public testing::Test {
 protected:
  void SetUp() override { CUDAVISION_NEEDS_CUDA(); }

  /// Equalises a gray frame `runs` times and compares every result with the CPU's.
  void run(int width, int height, int runs) {
    CudaTestDevice card;
    WatchedDevice watched(*card);
    const auto cpu = make_cpu_device();
    const FrameLayout layout = gray_layout(width, height);
    const std::size_t size = static_cast<std::size_t>(width) * height;

    Random random(settings().seed);
    std::vector<std::uint8_t> picture(size), expected(size), actual(size);
    for (auto& value : picture)
      value = static_cast<std::uint8_t>(random.next() >> 56);
    std::vector<std::uint32_t> expected_bins(256), actual_bins(256);
    const auto frame = [&](std::uint8_t* data) {
      return frame_in(layout, dense_placement(layout), data);
    };
    const auto bins = [](std::uint32_t* data) { return View<std::uint32_t>{data, 256, 1, 1024}; };
    histequalize::HistogramEqualize(*cpu, layout, {})
        .run(frame(picture.data()), frame(expected.data()), bins(expected_bins.data()));

    const DeviceBlock<std::uint8_t> in(*card, picture);
    const DeviceBlock<std::uint8_t> out(*card, actual);
    const DeviceBlock<std::uint32_t> histogram(*card, actual_bins);
    histequalize::HistogramEqualize equalize(watched, layout, {});
    std::uint32_t* state = watched.allocation(Exchange::words * sizeof(std::uint32_t));
    ASSERT_NE(state, nullptr) << "no allocation has the size of the exchange's state";

    for (int i = 0; i < runs; ++i) {
      card->fill(bytes_of(out.data(), size), static_cast<std::uint8_t>(i));
      poison_idle_set(*card, state, static_cast<std::uint8_t>(random.next()));
      equalize.run(frame(in.data()), frame(out.data()), bins(histogram.data()));
      card->download(bytes_of(out.data(), size), bytes_of(actual.data(), size));
      card->download(bytes_of(histogram.data(), 1024), bytes_of(actual_bins.data(), 1024));
      card->finish();
      ASSERT_EQ(actual_bins, expected_bins) << "run " << i;
      ASSERT_EQ(std::memcmp(actual.data(), expected.data(), size), 0) << "run " << i;
    }
  }

 private:
  static void poison_idle_set(Device& card, std::uint32_t* state, std::uint8_t value) {
    std::uint32_t parity = 0;
    card.download(bytes_of(state, sizeof parity), bytes_of(&parity, sizeof parity));
    card.finish();
    const int idle = static_cast<int>(parity & 1) ^ 1;
    card.fill(bytes_of(state + Exchange::arrivals_at(idle), sizeof(std::uint32_t)), value);
    card.fill(
        bytes_of(state + Exchange::counts_at(idle), Exchange::clearable * sizeof(std::uint32_t)),
        value);
  }
};

TEST_F(ExchangeOnCard, TenThousandRunsWithDelays) {
  CUDAVISION_NEEDS_TRUE_TIMING();
  // The frame is large enough for one block per multiprocessor.
  run(16 * 512, cuda_multiprocessors(), 10000);
}

TEST_F(ExchangeOnCard, FiftyTimesAsManyPacksAsThreads) {
  CUDAVISION_NEEDS_TRUE_TIMING();
  run(16 * 512, 50 * cuda_multiprocessors(), 40);
}

TEST_F(ExchangeOnCard, SmallFrames) {
  run(1, 1, 200);
  run(1031, 7, 200);
}

}  // namespace
}  // namespace cudavision::test
