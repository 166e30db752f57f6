// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares HistogramAverage and TableHysteresis with their definitions, and tests their contracts.
#include <functional>

#include "cuda/histogramaverage/arithmetic.h"
#include "tests/kernels/common/allocations/no_allocations.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/histogramaverage/histogram_sequence.h"

namespace cudavision::test {
namespace {

using namespace histogramaverage;

HistogramSequence make_sequence(std::uint64_t seed, int number, int max_pixels) {
  return make_histogram_sequence(seed, number, std::min(1 << 18, max_pixels));
}

void expect_definition(const HistogramSequence& sequence) {
  SCOPED_TRACE(describe(sequence));
  const auto device = make_cpu_device();
  ASSERT_EQ(difference(sequence, defined_outputs(sequence), run_sequence(*device, sequence)), "");
}

void expect_equal_devices(Device& cuda, const HistogramSequence& sequence) {
  SCOPED_TRACE(describe(sequence));
  const HistogramOutputs expected = run_sequence(*make_cpu_device(), sequence);
  ASSERT_EQ(difference(sequence, expected, run_sequence(cuda, sequence)), "");
  ASSERT_EQ(hash(run_sequence(cuda, sequence)), hash(expected));
}

CUDAVISION_NUMBERED_CASES(HistogramSequences, make_sequence);

/// Averages up to 4096 histograms (the largest grid of tiles), which needs many blocks.
TEST(HistogramSequences, CudaEqualsCpuForManyTiles) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1 << 22);
  CudaTestDevice cuda;
  for (const auto& [bits, rows] : {std::pair{8, 4096}, std::pair{10, 4096}, std::pair{16, 64}}) {
    HistogramSequence sequence = make_histogram_sequence(1, bits - 8, rows << bits);
    sequence.max_rows = rows;
    Random random(7);
    HistogramSequence::Step step{};
    step.rows = rows;
    for (int i = 0; i < rows << bits; ++i) {
      step.counts.push_back(static_cast<std::uint32_t>(random.between(0, 3000)));
      step.tables.push_back(static_cast<std::uint16_t>(i % (1 << bits)));
    }
    sequence.steps.clear();
    for (const int weight : {0, 3000, 60000}) {
      step.parameters = {weight, 20000};
      sequence.steps.push_back(step);
      for (std::uint32_t& count : step.counts)
        count += static_cast<std::uint32_t>(random.between(0, 99));
    }
    expect_equal_devices(*cuda, sequence);
  }
}

TEST(HistogramWeight, FollowsFromTime) {
  EXPECT_EQ(weight_of(0, 1000), 0);
  EXPECT_EQ(weight_of(1000, 0), 65536);
  EXPECT_EQ(weight_of(0, 0), 65536);
  EXPECT_EQ(weight_of(~std::uint64_t{0}, 1), 65536);
  EXPECT_EQ(weight_of(1, ~std::uint64_t{0}), 0);
  EXPECT_EQ(weight_of(40000000, 1000000000), 2570);  // 65536·(1 − exp(−0.04)) = 2569.7
  EXPECT_EQ(weight_of(1000000000, 1000000000), 41427);
}

CUDAVISION_ON_BOTH_DEVICES(HistogramAverages);

TEST_P(HistogramAverages, RefuseWithWords) {
  CUDAVISION_EXPECT_ERROR(HistogramAverage(device, 0, 8), invalid_argument, "max_histograms=0");
  CUDAVISION_EXPECT_ERROR(HistogramAverage(device, 65537, 8), invalid_argument, "histograms");
  CUDAVISION_EXPECT_ERROR(HistogramAverage(device, 1, 7), invalid_argument, "2^8 to 2^16");
  CUDAVISION_EXPECT_ERROR(HistogramAverage(device, 1, 17), invalid_argument, "2^8 to 2^16");
  CUDAVISION_EXPECT_ERROR(TableHysteresis(device, -1, 8), invalid_argument, "max_tables=-1");
  CUDAVISION_EXPECT_ERROR(TableHysteresis(device, 1, 17), invalid_argument, "2^8 to 2^16");

  HistogramAverage average(device, 2, 8);
  const DeviceBlock<std::uint32_t> block(device, std::vector<std::uint32_t>(1024, 1));
  const View<const std::uint32_t> good{block.data(), 256, 2, 1024};
  average.run(good, {5, 6});
  const auto refuse = [&](const std::function<void(View<const std::uint32_t>&)>& spoil) {
    View<const std::uint32_t> view = good;
    spoil(view);
    CUDAVISION_EXPECT_ERROR(average.run(view, {5, 6}), invalid_argument, "the histograms");
  };
  refuse([](auto& view) { view.data = nullptr; });
  refuse([](auto& view) { view.width = 255; });
  refuse([](auto& view) { view.width = 512; });
  refuse([](auto& view) { view.height = 0; });
  refuse([](auto& view) { view.height = 3; });
  refuse([](auto& view) { view.pitch = 1026; });
  for (const Parameters& wrong :
       {Parameters{-1, 0}, Parameters{65537, 0}, Parameters{0, -1}, Parameters{0, 65537}})
    CUDAVISION_EXPECT_ERROR(average.run(good, wrong), invalid_argument, "65536");
  // A refused call changes nothing.
  average.run(good, {0, 0});
  EXPECT_EQ(downloaded(device, average.status(), 1)[0].restarted, 0u);

  TableHysteresis hysteresis(device, 2, 8);
  const DeviceBlock<std::uint16_t> tables(device, std::vector<std::uint16_t>(1024, 1));
  const auto refuse_tables = [&](View<const std::uint16_t> view, const Status* status,
                                 const char* words) {
    CUDAVISION_EXPECT_ERROR(hysteresis.run(view, status), invalid_argument, words);
  };
  const Status* const status = average.status();
  refuse_tables({tables.data(), 256, 1, 512}, nullptr, "the status");
  refuse_tables({nullptr, 256, 1, 512}, status, "the tables");
  refuse_tables({tables.data(), 128, 1, 512}, status, "the tables");
  refuse_tables({tables.data(), 256, 3, 512}, status, "the tables");
  refuse_tables({tables.data(), 256, 2, 516}, status, "the tables");
  refuse_tables({tables.data() + 2, 256, 1, 512}, status, "the tables");
}

TEST_P(HistogramAverages, AllocateNothingAfterConstruction) {
  WatchedDevice device(this->device);
  HistogramAverage average(device, 64, 10);
  TableHysteresis hysteresis(device, 64, 10);
  const DeviceBlock<std::uint32_t> counts(this->device, std::vector<std::uint32_t>(64 << 10, 9));
  const DeviceBlock<std::uint16_t> tables(this->device, std::vector<std::uint16_t>(64 << 10, 9));
  const auto run = [&](int rows) {
    average.run({counts.data(), 1024, rows, 4096}, {100, 1000});
    hysteresis.run({tables.data(), 1024, rows, 2048}, average.status());
  };
  constexpr int rows[] = {64, 64, 1, 1, 3, 64};
  expect_no_allocations(device, 6, [&](int i) { run(rows[i]); });
}

TEST(HistogramSequences, RunOnlyEnqueues) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  HistogramAverage average(*device, 1, 8);
  std::vector<std::uint32_t> dark(256), bright(256);
  dark[20] = bright[90] = 1000;
  const DeviceBlock<std::uint32_t> first(*device, dark), others(*device, bright);
  const View<const std::uint32_t> view{others.data(), 256, 1, 1024};
  average.run({first.data(), 256, 1, 1024}, {});
  // Each replay moves the average half of the way to the counts.
  device.capture_and_replay([&] { average.run(view, {32768, 65536}); }, 3);
  const auto averages = average.run(view, {0, 65536});
  const auto counts = downloaded(*device, averages.data, 256);
  EXPECT_EQ(counts[20], 125u);
  EXPECT_EQ(counts[90], 875u);
}

}  // namespace
}  // namespace cudavision::test
