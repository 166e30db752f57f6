// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Makes tables from complete counts, in one launch with a block per table. Each warp sums a range
// of bins, then writes the table entries of these bins.

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/device.h"
#include "cuda/core/view.h"
#include "cuda/core/warp.cuh"
#include "cuda/histequalize/arithmetic.h"
#include "cuda/histequalize/histequalize.h"

namespace cudavision::histequalize {
namespace {

struct TableArguments {
  View<const std::uint32_t> counts;  // rows aligned to 16 bytes
  View<std::uint16_t> tables;        // rows aligned to 8 bytes
  int low, high;
};

constexpr int lane_entries = 4;
constexpr int step_entries = 32 * lane_entries;  // per warp and step
constexpr int table_threads = 1024;

struct alignas(16) Counts {
  std::uint32_t values[lane_entries];
};
struct alignas(8) Entries {
  std::uint16_t values[lane_entries];
};

__global__ void __launch_bounds__(table_threads)
    make_tables_kernel(const __grid_constant__ TableArguments a) {
  struct Range {
    std::uint32_t sum;
    std::uint32_t first_count;  // of the first non-empty bin
  };
  __shared__ Range ranges[table_threads / 32];
  grid_dependency_wait();
  launch_dependents();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int number = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int first_entry = number * (a.counts.width / warps);
  const int steps = a.counts.width / warps / step_entries;
  const auto* counts =
      reinterpret_cast<const Counts*>(a.counts.row(static_cast<int>(blockIdx.x)) + first_entry) +
      lane;
  auto* entries =
      reinterpret_cast<Entries*>(a.tables.row(static_cast<int>(blockIdx.x)) + first_entry) + lane;

  Range range{0, 0};
  for (int step = 0; step < steps; ++step) {
    const Counts four = counts[step * 32];
    std::uint32_t sum = 0, first_count = 0;
#pragma unroll
    for (int i = lane_entries - 1; i >= 0; --i) {
      sum += four.values[i];
      if (four.values[i] != 0)
        first_count = four.values[i];
    }
    const unsigned occupied = __ballot_sync(~0u, first_count != 0);
    if (occupied != 0 && range.sum == 0)
      range.first_count = __shfl_sync(~0u, first_count, __ffs(static_cast<int>(occupied)) - 1);
    range.sum += sum_of_warp(sum);
  }
  if (lane == 0)
    ranges[number] = range;
  __syncthreads();

  std::uint32_t before = 0, total = 0, first_count = 0;
  for (int w = 0; w < warps; ++w) {
    if (w == number)
      before = total;
    if (total == 0)
      first_count = ranges[w].first_count;
    total += ranges[w].sum;
  }

  const bool one_level = first_count == total;  // also true without samples
  const float scale = one_level ? 0.0f : equalisation_scale(total, first_count, a.low, a.high);
  for (int step = 0; step < steps; ++step) {
    const Counts four = counts[step * 32];
    const std::uint32_t sum = four.values[0] + four.values[1] + four.values[2] + four.values[3];
    const std::uint32_t up_to_lane = inclusive_scan(sum);
    std::uint32_t counted = before + up_to_lane - sum;
    Entries made;
#pragma unroll
    for (int i = 0; i < lane_entries; ++i) {
      counted += four.values[i];
      // above_first is 0 up to the first non-empty bin, so the level of these bins is `low`.
      const std::uint32_t above_first = counted > first_count ? counted - first_count : 0;
      const int level = one_level ? first_entry + step * step_entries + lane * lane_entries + i
                                  : equalised_level(above_first, scale, a.low, a.high);
      made.values[i] = static_cast<std::uint16_t>(level);
    }
    entries[step * 32] = made;
    before += __shfl_sync(~0u, up_to_lane, 31);
  }
}

class TableMaker {
 public:
  explicit TableMaker(Device& device) : launch_(device.stream(), make_tables_kernel) {}

  void run(View<const std::uint32_t> counts, const Parameters& parameters,
           View<std::uint16_t> tables) const {
    const TableArguments a{counts, tables, parameters.low, parameters.high};
    launch_(make_tables_kernel, static_cast<unsigned>(counts.height),
            static_cast<unsigned>(std::min(table_threads, counts.width / lane_entries)), 0, a);
  }

 private:
  Launcher<TableArguments> launch_;
};

}  // namespace
}  // namespace cudavision::histequalize
