// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Counts the histograms of tiles, for samples of more than 12 bits. If the counters do not fit
// into shared memory, a block counts one range of bins, and each part of the picture is read once
// per range. make_ranges_kernel also makes the tables; its blocks exchange the sums of the ranges.

#include "cuda/clahe/count.cuh"
#include "cuda/sync/tileexchange.h"

namespace cudavision::clahe {
namespace {

constexpr int kRangeThreads = 1024;

template <class Pack>
struct RangeCounter {
  std::uint32_t* counts;  // range_bins counters
  std::uint32_t base;     // first bin

  __device__ void add(const std::uint32_t* data, int pixel, const Arguments& a) const {
    const std::uint32_t bin = Pack::value(data, pixel, a.picture) - base;
    if (bin < static_cast<std::uint32_t>(a.range_bins))
      atomicAdd(counts + bin, 1u);
  }
  __device__ void remove_zeros(std::uint32_t count) const {
    if (base == 0)
      atomicSub(counts, count);
  }
};

/// Counts into device memory. If tiles and ranges are few, several blocks share the rows of a tile.
template <class Pack>
__global__ void __launch_bounds__(kRangeThreads, 1)
    count_ranges_kernel(const __grid_constant__ Arguments a) {
  extern __shared__ uint4 shared_words[];
  const int ranges = a.bins() / a.range_bins;
  const int range = blockIdx.x % ranges;
  const Share share(blockIdx.x / ranges, a.counting_parts);
  const int part = share.part;
  const int tile = share.whole;
  clear_words(shared_words, a.range_bins / 4);
  __syncthreads();
  grid_dependency_wait();
  launch_dependents();
  std::uint32_t* counts = reinterpret_cast<std::uint32_t*>(shared_words);
  const int first = range * a.range_bins;
  count_rows<Pack>(a, tile, RowRange(0, a.tiling.y.tile_size, part, a.counting_parts),
                   RangeCounter<Pack>{counts, static_cast<std::uint32_t>(first)});
  __syncthreads();
  for (int i = threadIdx.x; i < a.range_bins; i += kRangeThreads) {
    const int bin = (i + 32 * part) & (a.range_bins - 1);
    if (counts[bin] != 0)
      DeviceAtomics::add(a.counts_of(0, tile) + first + bin, counts[bin]);
  }
}

using Launches = LaunchEpoch<DeviceAtomics>;

/// The sums of the ranges, two words per range. The two highest bits of a word are the launch's
/// epoch (tileexchange.h).
struct RangeSums {
  using Atomics = RelaxedAtomics<std::uint64_t>;
  static constexpr int epoch_bit = 62;

  std::uint64_t* words;
  std::uint64_t epoch;

  __device__ void publish(int range, std::uint32_t kept, std::uint32_t excess) const {
    Atomics::store(words + 2 * range, epoch << epoch_bit | kept);
    Atomics::store(words + 2 * range + 1, epoch << epoch_bit | excess);
  }
  __device__ OtherBins wait(int range) const {
    return {wait_for(words + 2 * range), wait_for(words + 2 * range + 1)};
  }

 private:
  __device__ std::uint32_t wait_for(const std::uint64_t* word) const {
    std::uint64_t value = Atomics::load(word);
    while (value >> epoch_bit != epoch) {
      delay_for_test();
      value = Atomics::load(word);
    }
    return static_cast<std::uint32_t>(value);
  }
};

/// Counts tiles and makes their tables. All blocks are resident at once. The blocks of one tile
/// have adjacent indices, and the number of blocks is a multiple of the number of ranges. A block
/// therefore waits only for blocks in the same iteration of the loop.
template <class Pack>
__global__ void __launch_bounds__(kRangeThreads, 1)
    make_ranges_kernel(const __grid_constant__ Arguments a) {
  extern __shared__ uint4 shared_words[];
  __shared__ OtherBins from_others;
  __shared__ std::uint32_t epoch;
  const int ranges = a.bins() / a.range_bins;  // at most 32
  const int range = blockIdx.x % ranges;
  const int first = range * a.range_bins;
  std::uint32_t* counts = reinterpret_cast<std::uint32_t*>(shared_words);
  clear_words(shared_words, a.range_bins / 4);
  __syncthreads();
  grid_dependency_wait();
  launch_dependents();
  const Launches launches(a.launches);
  if (threadIdx.x == 0)
    epoch = launches.current();
  for (int tile = blockIdx.x / ranges; tile < a.tiling.tiles(); tile += gridDim.x / ranges) {
    count_rows<Pack>(a, tile, RowRange(0, a.tiling.y.tile_size),
                     RangeCounter<Pack>{counts, static_cast<std::uint32_t>(first)});
    __syncthreads();
    make_table_range(
        a, tile, {first, a.range_bins}, {a.clip_count, a.scale, false},
        [&](int i) { return shared_words[i]; },
        [&](int i) { shared_words[i] = make_uint4(0, 0, 0, 0); },
        [&](std::uint32_t kept, std::uint32_t excess) {
          delay_for_test();
          if (threadIdx.x < 32) {
            const int lane = threadIdx.x;
            const RangeSums sums{a.range_sums, epoch};
            if (lane == 0)
              sums.publish(tile * ranges + range, kept, excess);
            OtherBins other{0, 0};
            if (lane < ranges && lane != range)
              other = sums.wait(tile * ranges + lane);
            const std::uint32_t before = sum_of_warp(lane < range ? other.kept_before : 0);
            const std::uint32_t more = sum_of_warp(other.excess);
            if (lane == 0)
              from_others = {before, more};
          }
          __syncthreads();
          return from_others;
        });
    __syncthreads();
  }
  const std::uint32_t retired_before = threadIdx.x == 0 ? launches.retire() : 0;
  copy_planes(a, blockIdx.x, gridDim.x);
  if (threadIdx.x == 0)
    launches.advance_if_last(retired_before, gridDim.x);
}

}  // namespace
}  // namespace cudavision::clahe
