// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Makes the tables from the counts, or from averages of these, one block for each, and clears the
// counts for the next frame. The other blocks of this launch copy the planes that stay unchanged.

#include "cuda/clahe/arguments.cuh"
#include "cuda/core/warp.cuh"

namespace cudavision::clahe {
namespace {

constexpr int kTableBins = 4;  // that a thread loads as one vector
constexpr int kMaxTableThreads = 1024;

struct WarpSums {
  std::uint32_t sums[kMaxTableThreads / 32];

  /// The sum of those before `warp`.
  __device__ std::uint32_t before(int warp) const {
    std::uint32_t sum = 0;
    for (int w = 0; w < warp; ++w)
      sum += sums[w];
    return sum;
  }
  __device__ std::uint32_t all() const { return before(static_cast<int>(blockDim.x) / 32); }
};

__device__ std::uint32_t excess_of(const uint4& counts, std::uint32_t limit) {
  const auto above = [=](std::uint32_t count) { return count > limit ? count - limit : 0; };
  return above(counts.x) + above(counts.y) + above(counts.z) + above(counts.w);
}

__device__ void copy_planes(const Arguments& a, std::uint32_t thread, std::uint32_t threads) {
  for (int p = 0; p < a.copy_count; ++p) {
    const CopyPieces& copy = a.copies[p];
    for (std::uint32_t i = thread; i < copy.count; i += threads) {
      const int y = static_cast<int>(i / copy.per_row);
      const int at = static_cast<int>(i % copy.per_row) * 16;
      std::uint32_t piece[4];
      load_row<1, Rows::ragged>(copy.plane.in_row(y) + at, copy.row_bytes - at, piece);
      store_row<1, Rows::ragged>(copy.plane.out_row(y) + at, copy.row_bytes - at, piece);
    }
  }
}

/// The numbers, besides the counts, from which a table is made.
struct TableRule {
  std::uint32_t clip_count;
  float scale;
  bool identity;  // instead of a table by the counts
};

/// Makes the block's table from its averages, or from its counts if averages is nullptr, and clears
/// the counts. Every thread of the block must take part.
__device__ void make_table(const Arguments& a, const uint4* averages, const TableRule& rule) {
  __shared__ WarpSums excesses, sums;
  const int table = blockIdx.x;
  uint4* counts = reinterpret_cast<uint4*>(a.counts + (static_cast<std::int64_t>(table) << a.bits));
  const uint4* bins = averages ? averages : counts;
  uint2* entries =
      reinterpret_cast<uint2*>(a.tables + (static_cast<std::int64_t>(table) << a.bits));
  const int vectors = a.bins() / kTableBins;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;

  const uint4 first = bins[threadIdx.x];
  std::uint32_t excess = excess_of(first, rule.clip_count);
  for (int i = threadIdx.x + blockDim.x; i < vectors; i += blockDim.x)
    excess += excess_of(bins[i], rule.clip_count);
  excess = sum_of_warp(excess);
  if (lane == 0)
    excesses.sums[warp] = excess;
  __syncthreads();
  const Redistribution more(excesses.all(), static_cast<std::uint32_t>(a.bins()));

  std::uint32_t sum_before = 0;  // of the bins of earlier rounds
  for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
    const uint4 four = i == threadIdx.x ? first : bins[i];
    std::uint32_t kept[kTableBins] = {min(four.x, rule.clip_count), min(four.y, rule.clip_count),
                                      min(four.z, rule.clip_count), min(four.w, rule.clip_count)};
#pragma unroll
    for (int b = 1; b < kTableBins; ++b)
      kept[b] += kept[b - 1];
    const std::uint32_t inclusive = inclusive_scan(kept[kTableBins - 1]);
    if (lane == 31)
      sums.sums[warp] = inclusive;
    __syncthreads();
    const std::uint32_t before = sum_before + sums.before(warp) + inclusive - kept[kTableBins - 1];
    sum_before += sums.all();
    __syncthreads();  // until all have read the sums, the next round must not write them

    std::uint32_t levels[kTableBins];
#pragma unroll
    for (int b = 0; b < kTableBins; ++b) {
      const auto bin = static_cast<std::uint32_t>(i * kTableBins + b);
      levels[b] = rule.identity
                      ? bin
                      : table_level(before + kept[b] + more.up_to(bin), rule.scale, a.low, a.high);
    }
    entries[i] = make_uint2(levels[0] | levels[1] << 16, levels[2] | levels[3] << 16);
    counts[i] = make_uint4(0, 0, 0, 0);
  }
}

__global__ void __launch_bounds__(kMaxTableThreads)
    table_kernel(const __grid_constant__ Arguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int table = blockIdx.x;
  if (table >= a.table_count) {
    copy_planes(a, (table - a.table_count) * blockDim.x + threadIdx.x,
                (gridDim.x - a.table_count) * blockDim.x);
    return;
  }
  make_table(a, nullptr, {a.clip_count, a.scale, false});
}

struct SmoothedArguments {
  Arguments tiles;
  const std::uint32_t* averages;  // 2^bits for each table
  double clip_limit;
};

/// Makes the tables from averages, each with the sum of its own.
__global__ void __launch_bounds__(kMaxTableThreads)
    smoothed_table_kernel(const __grid_constant__ SmoothedArguments smoothed) {
  __shared__ WarpSums sums;
  __shared__ TableRule rule;
  const Arguments& a = smoothed.tiles;
  launch_dependents();
  grid_dependency_wait();
  const int table = blockIdx.x;
  if (table >= a.table_count) {
    copy_planes(a, (table - a.table_count) * blockDim.x + threadIdx.x,
                (gridDim.x - a.table_count) * blockDim.x);
    return;
  }
  const uint4* averages = reinterpret_cast<const uint4*>(
      smoothed.averages + (static_cast<std::int64_t>(blockIdx.x) << a.bits));
  std::uint32_t sum = 0;
  for (int i = threadIdx.x; i < a.bins() / kTableBins; i += blockDim.x)
    sum += excess_of(averages[i], 0);
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0)
    sums.sums[threadIdx.x / 32] = sum;
  __syncthreads();
  // One thread does this, because many GPUs have few units for binary64.
  if (threadIdx.x == 0) {
    const std::uint32_t area = sums.all();
    rule = {clip_count(smoothed.clip_limit, area, a.bins()),
            area != 0 ? level_scale(a.low, a.high, area) : 0.0f, area == 0};
  }
  __syncthreads();
  make_table(a, averages, rule);
}

}  // namespace
}  // namespace cudavision::clahe
