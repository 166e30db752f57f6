// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernels for 11 to 16 bits: three launches count, make the table and apply it. If the counters
// do not all fit into the shared memory of an SM, each block counts a range of the bins, and each
// part of the picture is read once per range. Two 16-bit counters per word would fit, but
// the GPU merges equal increments of a warp only if each adds 1 to a word. Flat pictures would need
// a separate addition for each pixel. The last launch clears the counters for the next frame.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/warp.cuh"
#include "cuda/histequalize/arithmetic.h"
#include "cuda/pixels/pixel_pack.h"
#include "cuda/sync/interblock.cuh"

namespace cudavision::histequalize {
namespace {

constexpr int kThreads = 1024;
constexpr int kChunk = 1024;  // bins per stored sum
constexpr int kBatch = 2;     // packs per thread whose loads are in flight together
constexpr int kTableThreads = 256;
constexpr int kTableBins = kChunk / kTableThreads;
static_assert(kTableBins == 4, "a thread loads its counts as one vector");

struct WideArguments {
  PackedImage picture;
  PackStride counting_stride;  // between the packs of a thread
  PackStride applying_stride;
  std::uint32_t* counts;      // 2^bits counts, then one sum per chunk
  std::uint32_t* chunk_sums;  // 2^bits / kChunk sums
  std::uint16_t* table;       // 2^bits entries
  std::uint32_t* histogram;   // 2^bits counts, or nullptr
  std::uint32_t total;
  int bins;
  int range_bins;  // bins that a block counts; divides bins
  int low, high, blend;
};

/// Calls use(data, cursor) for the cursor's pack and for the following packs at the stride. The
/// next batch is loaded while a batch is used, because a block is alone on its SM: no other block
/// hides the latency. prepare() runs once in every thread, after the first loads have been issued.
template <class Pack, Rows kRows, class Prepare, class Use>
__device__ void stream_packs(const PackedImage& picture, PackCursor<kRows> cursor,
                             const PackStride& stride, const Prepare& prepare, const Use& use) {
  std::uint32_t next[kBatch][Pack::words];
  PackCursor<kRows> ahead = cursor;
  const auto load_next = [&] {
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (ahead.inside(picture))
        Pack::template load<kRows>(picture, ahead, next[k]);
      ahead.advance(picture, stride);
    }
  };
  load_next();
  prepare();
  while (cursor.inside(picture)) {
    std::uint32_t data[kBatch][Pack::words];
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
#pragma unroll
      for (int w = 0; w < Pack::words; ++w)
        data[k][w] = next[k][w];
    load_next();
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (cursor.inside(picture))
        use(data[k], cursor);
      cursor.advance(picture, stride);
    }
  }
}

template <class Pack, Rows kRows>
__global__ void __launch_bounds__(kThreads, 1)
    count_wide_kernel(const __grid_constant__ WideArguments a) {
  extern __shared__ uint4 shared_words[];
  std::uint32_t* counts = reinterpret_cast<std::uint32_t*>(shared_words);  // range_bins counters
  const std::uint32_t ranges = a.bins / a.range_bins;
  const std::uint32_t base = blockIdx.x % ranges * a.range_bins;
  for (int i = threadIdx.x; i < a.range_bins / 4; i += kThreads)
    shared_words[i] = make_uint4(0, 0, 0, 0);
  __syncthreads();
  grid_dependency_wait();
  // Must follow the wait: the applying launch reads the picture before it waits for this launch.
  launch_dependents();
  const PackCursor<kRows> first(a.picture, blockIdx.x / ranges * kThreads + threadIdx.x);
  stream_packs<Pack>(
      a.picture, first, a.counting_stride, [] {},
      [&](const std::uint32_t* data, const PackCursor<kRows>& at) {
        const int existing = pixels_in<Pack, kRows>(a.picture, at);
#pragma unroll
        for (int i = 0; i < Pack::pixels; ++i) {
          const std::uint32_t bin = Pack::value(data, i, a.picture) - base;
          if (i < existing && bin < static_cast<std::uint32_t>(a.range_bins))
            atomicAdd(counts + bin, 1u);
        }
      });
  __syncthreads();

  // A warp adds one chunk at a time, so that the sum of the chunk costs only one more addition.
  // Blocks begin at different bins, because atomic additions to the same word are serialised.
  const int lane = threadIdx.x % 32;
  const int rotation = blockIdx.x / ranges % 32;
  for (int chunk = threadIdx.x / 32; chunk < a.range_bins / kChunk; chunk += kThreads / 32) {
    std::uint32_t sum = 0;
#pragma unroll 8
    for (int step = 0; step < kChunk / 32; ++step) {
      const int bin = chunk * kChunk + (step + rotation) % 32 * 32 + lane;
      const std::uint32_t count = counts[bin];
      if (count != 0)
        DeviceAtomics::add(a.counts + base + bin, count);
      sum += count;
    }
    sum = sum_of_warp(sum);
    if (lane == 0 && sum != 0)
      DeviceAtomics::add(a.chunk_sums + base / kChunk + chunk, sum);
  }
}

/// Makes the table, with one block per chunk.
__global__ void __launch_bounds__(kTableThreads)
    table_wide_kernel(const __grid_constant__ WideArguments a) {
  __shared__ std::uint32_t warp_sums[kTableThreads / 32];
  __shared__ unsigned long long first;  // first non-empty bin (upper half), its count (lower)
  const int chunk = blockIdx.x;
  const int chunks = gridDim.x;  // 2 to 64
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int own = chunk * kChunk + static_cast<int>(threadIdx.x) * kTableBins;
  launch_dependents();
  grid_dependency_wait();
  const uint4 four = *reinterpret_cast<const uint4*>(a.counts + own);

  // Every warp computes the number of samples below this chunk, and the first non-empty chunk.
  std::uint32_t before = 0;
  int first_chunk = -1;
  for (int start = 0; start < chunks; start += 32) {
    const std::uint32_t sum = start + lane < chunks ? a.chunk_sums[start + lane] : 0;
    if (start + lane < chunk)
      before += sum;
    const unsigned occupied = __ballot_sync(0xffffffffu, sum != 0);
    if (first_chunk < 0 && occupied)
      first_chunk = start + __ffs(occupied) - 1;
  }
  before = sum_of_warp(before);

  if (threadIdx.x == 0)
    first = ~0ull;
  const uint4 candidates =
      *reinterpret_cast<const uint4*>(a.counts + first_chunk * kChunk + threadIdx.x * kTableBins);
  __syncthreads();
  const std::uint32_t candidate[kTableBins] = {candidates.x, candidates.y, candidates.z,
                                               candidates.w};
#pragma unroll
  for (int b = kTableBins - 1; b >= 0; --b)
    if (candidate[b] != 0)
      atomicMin(&first,
                static_cast<unsigned long long>(threadIdx.x * kTableBins + b) << 32 | candidate[b]);

  const std::uint32_t counts[kTableBins] = {four.x, four.y, four.z, four.w};
  const std::uint32_t sum = four.x + four.y + four.z + four.w;
  const std::uint32_t inclusive = inclusive_scan(sum);
  if (lane == 31)
    warp_sums[warp] = inclusive;
  __syncthreads();
  for (int w = 0; w < warp; ++w)
    before += warp_sums[w];

  const auto first_count = static_cast<std::uint32_t>(first);
  const bool one_level = first_count == a.total;
  const float scale = one_level ? 0.0f : equalisation_scale(a.total, first_count, a.low, a.high);
  std::uint32_t counted = before + inclusive - sum;
#pragma unroll
  for (int b = 0; b < kTableBins; ++b) {
    counted += counts[b];
    const std::uint32_t above_first = counted > first_count ? counted - first_count : 0;
    const int level = one_level ? own + b : equalised_level(above_first, scale, a.low, a.high);
    a.table[own + b] = static_cast<std::uint16_t>(blended(own + b, level, a.blend));
    if (a.histogram != nullptr)
      a.histogram[own + b] = counts[b];
  }
}

__device__ void clear_counters(const WideArguments& a) {
  const int words = a.bins + a.bins / kChunk;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
    a.counts[i] = 0;
}

/// kShared: copies the table to shared memory; GPUs with too little memory use the other instance.
/// kAlone: the caller provides a table without the blend, and the counters are already zero.
template <class Pack, Rows kRows, bool kShared, bool kAlone>
__global__ void __launch_bounds__(kThreads, 1)
    apply_wide_kernel(const __grid_constant__ WideArguments a) {
  extern __shared__ uint4 shared_table[];
  if (kAlone)
    grid_dependency_wait();
  launch_dependents();
  const std::uint16_t* table =
      kShared ? reinterpret_cast<const std::uint16_t*>(shared_table) : a.table;
  const PackCursor<kRows> first(a.picture, blockIdx.x * kThreads + threadIdx.x);
  stream_packs<Pack>(
      a.picture, first, a.applying_stride,
      [&] {
        if (!kAlone)
          grid_dependency_wait();
        if (kShared) {
          const uint4* from = reinterpret_cast<const uint4*>(a.table);
#pragma unroll 8
          for (int i = threadIdx.x; i < a.bins / 8; i += kThreads)
            shared_table[i] = __ldg(from + i);
          __syncthreads();
        }
        if (!kAlone)
          clear_counters(a);
      },
      [&](std::uint32_t* data, const PackCursor<kRows>& at) {
        const int existing = pixels_in<Pack, kRows>(a.picture, at);
#pragma unroll
        for (int i = 0; i < Pack::pixels; ++i) {
          if (i >= existing)
            break;
          const std::uint32_t value = Pack::value(data, i, a.picture);
          std::uint32_t level = kShared ? table[value] : __ldg(table + value);
          if (kAlone)
            level = blended(static_cast<int>(value), static_cast<int>(level), a.blend);
          Pack::set(data, i, level, a.picture);
        }
        Pack::template store<kRows>(a.picture, at, data);
      });
}

/// Stores the histogram and clears the counters, after a frame that is only counted.
__global__ void take_histogram_kernel(const __grid_constant__ WideArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int bin = blockIdx.x * blockDim.x + threadIdx.x;
  if (bin < a.bins) {
    a.histogram[bin] = a.counts[bin];
    a.counts[bin] = 0;
  }
  if (bin < a.bins / kChunk)
    a.chunk_sums[bin] = 0;
}

}  // namespace
}  // namespace cudavision::histequalize
