// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel for up to 10 bits. One launch counts, makes the table and applies it, or only counts
// (Action::histogram). Threads keep packs in registers, so that small pictures are read once. While
// some warps wait for the counts of other blocks, the remaining warps copy the unchanged planes.

#include "cuda/core/cuda_launch.h"
#include "cuda/histequalize/narrow_table.cuh"
#include "cuda/histequalize/pack_actions.cuh"
#include "cuda/pixels/access_pattern.h"
#include "cuda/sync/histogramexchange.h"
#include "cuda/sync/interblock.cuh"

namespace cudavision::histequalize {
namespace {

/// Threads of an SM's only block. Counting needs many loads in flight; applying needs registers.
constexpr int counting_threads = 1024;
constexpr int applying_threads = 512;

template <Action kAction>
constexpr int threads_of = kAction == Action::histogram ? counting_threads : applying_threads;

struct Arguments {
  PackedImage picture;
  PackStride stride;  // between the packs of a thread
  PlaneCopy copies[FrameLayout::max_planes];
  int copy_count;
  std::uint32_t* state;      // state of HistogramExchange
  std::uint32_t total;       // pixels
  std::uint32_t* histogram;  // histogram_bins counts, or nullptr
  int histogram_bins;
  int low, high, blend;
};

template <Action kAction, int kChunks>
struct Sizes {
  static constexpr int tables = kAction == Action::each ? 3 : 1;
  static constexpr int table_bins = kChunk * kChunks;
  static constexpr int bins = tables * table_bins;
  static constexpr int table_warps = tables * kChunks;
  // Copies of the counters. With more bins, additions rarely collide, and reading takes longer.
  static constexpr int copies = kChunks == 1 ? 4 : 1;
  using Exchange = HistogramExchange<DeviceAtomics, bins, copies>;
  using Entry = std::conditional_t<kChunks == 1, std::uint8_t, std::uint16_t>;
};

/// Calls use(i) for i = 0 … kCount − 1, divided among the threads of the block.
template <int kCount, int kThreads, class Use>
__device__ void for_each_of(const Use& use) {
#pragma unroll
  for (int start = 0; start < kCount; start += kThreads)
    if (kCount - start >= kThreads || threadIdx.x < kCount - start)
      use(start + threadIdx.x);
}

/// Calls use(data, cursor) for the cursor's pack and for the following packs at the stride. All
/// loads of a batch are issued before its first pack is used.
template <class Pack, int kBatch, Rows kRows, class Use>
__device__ void for_packs(const PackedImage& picture, PackCursor<kRows> cursor,
                          const PackStride& stride, const Use& use) {
  while (cursor.inside(picture)) {
    std::uint32_t data[kBatch][Pack::words];
    PackCursor<kRows> ahead = cursor;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (ahead.inside(picture))
        Pack::template load<kRows>(picture, ahead, data[k]);
      ahead.advance(picture, stride);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (cursor.inside(picture))
        use(data[k], cursor);
      cursor.advance(picture, stride);
    }
  }
}

template <class Pack>
__device__ void set_pixel(std::uint32_t* data, int number, std::uint32_t value,
                          const PackedImage& picture) {
  if constexpr (Pack::colour)
    Pack::set(data, number, value);
  else
    Pack::set(data, number, value, picture);
}

template <class Pack, Action kAction, Rows kRows>
__device__ void count_pack(const std::uint32_t* data, const PackCursor<kRows>& at,
                           const PackedImage& picture, std::uint32_t* counts) {
  std::uint32_t pixels[Pack::words];
#pragma unroll
  for (int w = 0; w < Pack::words; ++w)
    pixels[w] = data[w];
  // At the right edge, missing pixels are counted as zeros, and subtracted in advance. The block's
  // final count of a bin is not negative, as the exchange requires.
  const int existing = pixels_in<Pack, kRows>(picture, at);
  if (existing < Pack::pixels) {
#pragma unroll
    for (int i = 0; i < Pack::pixels; ++i)
      if (i >= existing)
        set_pixel<Pack>(pixels, i, 0, picture);
    for (int t = 0; t < (kAction == Action::each ? 3 : 1); ++t)
      atomicSub(counts + t * kChunk, static_cast<unsigned>(Pack::pixels - existing));
  }
#pragma unroll
  for (int i = 0; i < Pack::pixels; ++i)
    count_pixel<Pack, kAction>(pixels, i, picture, counts);
}

template <class Pack, Action kAction, Rows kRows, class Entry>
__device__ void apply_table(std::uint32_t* data, const PackCursor<kRows>& at, const Arguments& a,
                            const Entry* table) {
  apply_levels<Pack, kAction>(data, pixels_in<Pack, kRows>(a.picture, at), a.picture, a.blend,
                              [&](int number, int, std::uint32_t value) {
                                return std::uint32_t{table[number * kChunk + value]};
                              });
}

/// A thread keeps kResident packs in registers from counting to applying.
template <class Pack, Rows kRows, Action kAction, int kChunks, int kResident>
__global__ void __launch_bounds__(threads_of<kAction>, 1)
    equalize_kernel(const __grid_constant__ Arguments a) {
  using S = Sizes<kAction, kChunks>;
  using Entry = typename S::Entry;
  constexpr int kThreads = threads_of<kAction>;
  constexpr bool applies = kAction != Action::histogram;
  constexpr int batch = Pack::words == 4 ? 4 : applies ? 2 : 1;

  __shared__ std::uint32_t counts[S::bins];
  __shared__ alignas(16) Entry table[S::bins];

  for_each_of<S::bins, kThreads>([&](int bin) { counts[bin] = 0; });
  grid_dependency_wait();

  const PackedImage& picture = a.picture;
  const int warp = threadIdx.x / 32;
  const PackCursor<kRows> first(picture, blockIdx.x * kThreads + threadIdx.x);

  std::uint32_t held[kResident ? kResident : 1][Pack::words];
  PackCursor<kRows> cursor = first;
#pragma unroll
  for (int r = 0; r < kResident; ++r) {
    if (cursor.inside(picture))
      Pack::template load<kRows>(picture, cursor, held[r]);
    cursor.advance(picture, a.stride);
  }

  const typename S::Exchange exchange(a.state);
  if (blockIdx.x == 0)
    for_each_of<S::Exchange::clearable, kThreads>([&](int i) { exchange.clear(i); });
  __syncthreads();

  const auto count = [&](const std::uint32_t* data, const PackCursor<kRows>& at) {
    count_pack<Pack, kAction, kRows>(data, at, picture, counts);
  };
  cursor = first;
#pragma unroll
  for (int r = 0; r < kResident; ++r) {
    if (cursor.inside(picture))
      count(held[r], cursor);
    cursor.advance(picture, a.stride);
  }
  const PackCursor<kRows> rest = cursor;
  for_packs<Pack, batch>(picture, rest, a.stride, count);
  __syncthreads();

  delay_for_test();
  for_each_of<S::bins, kThreads>([&](int bin) { exchange.add(blockIdx.x, bin, counts[bin]); });
  __syncthreads();
  delay_for_test();
  if (threadIdx.x == 0)
    exchange.arrive();
  launch_dependents();  // the next launch's blocks start as blocks of this launch exit
  if (!applies && blockIdx.x != 0)
    return;

  if (warp < S::table_warps) {
    const int number = warp / kChunks;
    const int chunk = warp % kChunks;
    const int lane = threadIdx.x % 32;
    const ScannedChunk scanned =
        wait_for_chunk<typename S::Exchange, kChunks>(exchange, number, chunk, a.total);
    const int first_bin = chunk * kChunk + lane * kLaneBins;
    if (applies)
      write_table<Entry, kAction != Action::shift>(scanned, first_bin, a,
                                                   table + number * S::table_bins);
    if (kAction != Action::each && blockIdx.x == 0 && a.histogram != nullptr)
#pragma unroll
      for (int b = 0; b < kLaneBins; ++b)
        if (first_bin + b < a.histogram_bins)
          a.histogram[first_bin + b] = scanned.counts[b];
  } else if (applies && a.copy_count > 0) {
    constexpr std::uint32_t others = kThreads - 32 * S::table_warps;
    copy_vectors(a.copies, a.copy_count, blockIdx.x * others + threadIdx.x - 32 * S::table_warps,
                 gridDim.x * others);
  }
  __syncthreads();
  delay_for_test();
  if (blockIdx.x == 0 && threadIdx.x == 0)
    exchange.flip();

  if constexpr (applies) {
    const auto apply = [&](std::uint32_t* data, const PackCursor<kRows>& at) {
      apply_table<Pack, kAction>(data, at, a, table);
      Pack::template store<kRows>(picture, at, data);
    };
    cursor = first;
#pragma unroll
    for (int r = 0; r < kResident; ++r) {
      if (cursor.inside(picture))
        apply(held[r], cursor);
      cursor.advance(picture, a.stride);
    }
    for_packs<Pack, batch>(picture, rest, a.stride, apply);
  }
}

}  // namespace
}  // namespace cudavision::histequalize
