// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Makes the table from the counts of all blocks, for narrow.cuh. Each warp waits for the complete
// histogram, scans one chunk of its bins and writes the table entries of the chunk.

#include "cuda/core/warp.cuh"
#include "cuda/histequalize/arithmetic.h"
#include "cuda/sync/interblock.cuh"

namespace cudavision::histequalize {
namespace {

constexpr int kChunk = 256;  // bins that one warp scans, eight per lane
constexpr int kLaneBins = kChunk / 32;

/// One chunk of a histogram as read by a warp. Counts of some blocks may still be missing.
struct ChunkView {
  std::uint32_t counts[kLaneBins];
  std::uint32_t lane_sum;
  std::uint32_t sum;          ///< of all counts of the chunk
  std::uint32_t first_count;  ///< count of the chunk's first non-empty bin
};

template <class Exchange>
__device__ ChunkView read_chunk(const Exchange& exchange, int first_bin) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t* bins = exchange.bin(first_bin + lane * kLaneBins);
  ChunkView view{};
#pragma unroll
  for (int copy = 0; copy < Exchange::copies; ++copy)
#pragma unroll
    for (int b = 0; b < kLaneBins; b += 4) {
      std::uint32_t four[4];
      DeviceAtomics::load4(bins + copy * Exchange::bins + b, four);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        view.counts[b + i] += four[i];
    }
  std::uint32_t first_count = 0;
#pragma unroll
  for (int b = kLaneBins - 1; b >= 0; --b) {
    view.lane_sum += view.counts[b];
    if (view.counts[b] != 0)
      first_count = view.counts[b];
  }
  view.sum = sum_of_warp(view.lane_sum);
  const unsigned occupied = __ballot_sync(0xffffffffu, view.lane_sum != 0);
  view.first_count = __shfl_sync(0xffffffffu, first_count, occupied ? __ffs(occupied) - 1 : 0);
  return view;
}

/// A lane's bins of the complete histogram.
struct ScannedChunk {
  std::uint32_t counts[kLaneBins];
  std::uint32_t before;       ///< samples in all bins below the bins of this lane
  std::uint32_t first_count;  ///< count of the table's first non-empty bin
};

/// Waits for all blocks' counts. Each warp reads a whole table, so no warp waits for another.
template <class Exchange, int kChunks>
__device__ ScannedChunk wait_for_chunk(const Exchange& exchange, int table, int chunk,
                                       std::uint32_t total) {
  ScannedChunk result;
  std::uint32_t lane_sum = 0;
  std::uint32_t sum = 0;
  while (!exchange.all_arrived(gridDim.x))
    delay_for_test();
  do {
    delay_for_test();
    sum = 0;
    result.first_count = 0;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const ChunkView view = read_chunk(exchange, (table * kChunks + c) * kChunk);
      if (c == chunk) {
#pragma unroll
        for (int b = 0; b < kLaneBins; ++b)
          result.counts[b] = view.counts[b];
        result.before = sum;
        lane_sum = view.lane_sum;
      }
      if (sum == 0)
        result.first_count = view.first_count;
      sum += view.sum;
    }
  } while (sum != total);

  result.before += inclusive_scan(lane_sum) - lane_sum;
  return result;
}

/// Arguments must have the members total, low, high and blend.
template <class Entry, bool kBlend, class Arguments>
__device__ void write_table(const ScannedChunk& chunk, int first_bin, const Arguments& a,
                            Entry* table) {
  const bool one_level = chunk.first_count == a.total;
  const float scale =
      one_level ? 0.0f : equalisation_scale(a.total, chunk.first_count, a.low, a.high);
  constexpr int per_word = 4 / sizeof(Entry);
  std::uint32_t words[kLaneBins / per_word] = {};
  std::uint32_t sum = chunk.before;
#pragma unroll
  for (int b = 0; b < kLaneBins; ++b) {
    sum += chunk.counts[b];
    // counted is 0 up to the first non-empty bin, so the level of these bins is `low`.
    const std::uint32_t counted = sum > chunk.first_count ? sum - chunk.first_count : 0;
    int level = one_level ? first_bin + b : equalised_level(counted, scale, a.low, a.high);
    if (kBlend)
      level = blended(first_bin + b, level, a.blend);
    words[b / per_word] |= static_cast<std::uint32_t>(level)
                           << (8 * sizeof(Entry) * (b % per_word));
  }
#pragma unroll
  for (int w = 0; w < kLaneBins / per_word; ++w)
    reinterpret_cast<std::uint32_t*>(table + first_bin)[w] = words[w];
}

}  // namespace
}  // namespace cudavision::histequalize
