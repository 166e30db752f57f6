// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Makes tables from counts or averaged counts, with a block per table or per range of its bins.

#include "cuda/clahe/arguments.cuh"
#include "cuda/core/warp.cuh"

namespace cudavision::clahe {
namespace {

constexpr int kTableBins = 4;  // bins per vector load of a thread
constexpr int kMaxTableThreads = 1024;

struct WarpSums {
  std::uint32_t sums[kMaxTableThreads / 32];

  /// Sum over the warps before `warp`.
  __device__ std::uint32_t before(int warp) const {
    std::uint32_t sum = 0;
    for (int w = 0; w < warp; ++w)
      sum += sums[w];
    return sum;
  }
};

__device__ std::uint32_t sum_of(const uint4& counts) {
  return counts.x + counts.y + counts.z + counts.w;
}

__device__ uint4 kept_of(const uint4& counts, std::uint32_t limit) {
  return make_uint4(min(counts.x, limit), min(counts.y, limit), min(counts.z, limit),
                    min(counts.w, limit));
}

struct TableRule {
  std::uint32_t clip_count;
  float scale;
  bool identity;  // write the identity, because all counts are 0
};

struct BinRange {
  int first, bins;
};

/// Sums over the bins of a table outside the range of the block.
struct OtherBins {
  std::uint32_t kept_before;  // clipped counts of the bins before the range
  std::uint32_t excess;
};

/// Makes a range of a table. All threads of the block must call this. bins(i) returns the counts of
/// bins 4·i to 4·i + 3 of the range. For each i, one thread calls bins(i) once or twice, then
/// done(i). others(kept, excess) receives the sums of the block's range and returns the sums of the
/// other ranges. Each warp processes adjacent bins, so that the block synchronises only once.
template <class Bins, class Done, class Others>
__device__ void make_table_range(const Arguments& a, int table, const BinRange& range,
                                 const TableRule& rule, const Bins& bins, const Done& done,
                                 const Others& others) {
  __shared__ WarpSums excesses, sums;
  const int vectors = range.bins / kTableBins;
  const int warps = min(static_cast<int>(blockDim.x), vectors) / 32;
  const int of_warp = vectors / warps;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int begin = warp * of_warp, end = begin + of_warp;
  uint4 first{};
  if (warp < warps) {
    first = bins(begin + lane);
    const uint4 kept = kept_of(first, rule.clip_count);
    std::uint32_t sum = sum_of(kept);
    std::uint32_t excess = sum_of(first) - sum;
#pragma unroll 4
    for (int i = begin + lane + 32; i < end; i += 32) {
      const uint4 counts = bins(i);
      const std::uint32_t sum_kept = sum_of(kept_of(counts, rule.clip_count));
      sum += sum_kept;
      excess += sum_of(counts) - sum_kept;
    }
    sum = sum_of_warp(sum);
    excess = sum_of_warp(excess);
    if (lane == 0) {
      sums.sums[warp] = sum;
      excesses.sums[warp] = excess;
    }
  }
  __syncthreads();
  const std::uint32_t excess = excesses.before(warps);
  const OtherBins other = others(sums.before(warps), excess);
  if (warp >= warps)
    return;
  const Redistribution more(excess + other.excess, static_cast<std::uint32_t>(a.bins()));
  std::uint32_t before = other.kept_before + sums.before(warp);
  uint2* entries = reinterpret_cast<uint2*>(
      a.tables + (static_cast<std::int64_t>(table) << a.bits) + range.first);
#pragma unroll 2
  for (int i = begin + lane; i < end; i += 32) {
    const uint4 kept = kept_of(i == begin + lane ? first : bins(i), rule.clip_count);
    const std::uint32_t upto[kTableBins] = {kept.x, kept.x + kept.y, kept.x + kept.y + kept.z,
                                            sum_of(kept)};
    const std::uint32_t inclusive = inclusive_scan(upto[kTableBins - 1]);
    const std::uint32_t below = before + inclusive - upto[kTableBins - 1];
    before += __shfl_sync(~0u, inclusive, 31);
    std::uint32_t levels[kTableBins];
#pragma unroll
    for (int b = 0; b < kTableBins; ++b) {
      const auto bin = static_cast<std::uint32_t>(range.first + i * kTableBins + b);
      levels[b] = rule.identity
                      ? bin
                      : table_level(below + upto[b] + more.up_to(bin), rule.scale, a.low, a.high);
    }
    entries[i] = make_uint2(levels[0] | levels[1] << 16, levels[2] | levels[3] << 16);
    done(i);
  }
}

template <class Bins, class Done>
__device__ void make_table(const Arguments& a, int table, const TableRule& rule, const Bins& bins,
                           const Done& done) {
  make_table_range(a, table, {0, a.bins()}, rule, bins, done, [](std::uint32_t, std::uint32_t) {
    return OtherBins{0, 0};
  });
}

struct TableArguments {
  Arguments tiles;
  const std::uint32_t* averages;  // 2^bits per table, or nullptr
  double clip_limit;
};

/// Makes a table per block, from averages or counts. Clears the counts. Other blocks copy planes.
__global__ void __launch_bounds__(kMaxTableThreads)
    table_kernel(const __grid_constant__ TableArguments arguments) {
  __shared__ WarpSums sums;
  __shared__ TableRule rule;
  const Arguments& a = arguments.tiles;
  launch_dependents();
  grid_dependency_wait();
  if (blockIdx.x >= a.table_count) {
    copy_planes(a, blockIdx.x - a.table_count, gridDim.x - a.table_count);
    return;
  }
  const std::int64_t first_bin = static_cast<std::int64_t>(blockIdx.x) << a.bits;
  uint4* counts = reinterpret_cast<uint4*>(a.counts + first_bin);
  const uint4* bins = counts;
  if (threadIdx.x == 0)
    rule = {a.clip_count, a.scale, false};
  if (arguments.averages != nullptr) {
    bins = reinterpret_cast<const uint4*>(arguments.averages + first_bin);
    std::uint32_t sum = 0;
    for (int i = threadIdx.x; i < a.bins() / kTableBins; i += blockDim.x)
      sum += sum_of(bins[i]);
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0)
      sums.sums[threadIdx.x / 32] = sum;
    __syncthreads();
    // A single thread computes this, because many GPUs have few binary64 units.
    if (threadIdx.x == 0) {
      const std::uint32_t area = sums.before(static_cast<int>(blockDim.x) / 32);
      rule = {clip_count(arguments.clip_limit, area, a.bins()),
              area != 0 ? level_scale(a.low, a.high, area) : 0.0f, area == 0};
    }
  }
  __syncthreads();
  make_table(
      a, blockIdx.x, rule, [&](int i) { return bins[i]; },
      [&](int i) { counts[i] = make_uint4(0, 0, 0, 0); });
}

}  // namespace
}  // namespace cudavision::clahe
