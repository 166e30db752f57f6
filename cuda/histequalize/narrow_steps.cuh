// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For frames with smoothing or regions: launches that count red, green and blue or apply tables.

#include "cuda/histequalize/narrow.cuh"

namespace cudavision::histequalize {
namespace {

/// Packs that a thread loads before it uses the first pack.
template <class Pack>
constexpr int batch = Pack::words == 4 ? 4 : 1;

constexpr int step_blocks = 2;  // per multiprocessor

struct CountEachArguments {
  PackedImage picture;
  PackStride stride;      // between the packs of a thread
  std::uint32_t* counts;  // 3·kChunk, all zero
};

template <class Pack, Rows kRows>
__global__ void __launch_bounds__(applying_threads, step_blocks)
    count_each_kernel(const __grid_constant__ CountEachArguments a) {
  constexpr int bins = 3 * kChunk;
  __shared__ std::uint32_t counts[bins];
  for_each_of<bins, applying_threads>([&](int bin) { counts[bin] = 0; });
  grid_dependency_wait();
  launch_dependents();
  __syncthreads();
  const PackCursor<kRows> first(a.picture, blockIdx.x * applying_threads + threadIdx.x);
  for_packs<Pack, batch<Pack>>(a.picture, first, a.stride,
                               [&](const std::uint32_t* data, const PackCursor<kRows>& at) {
                                 count_pack<Pack, Action::each, kRows>(data, at, a.picture, counts);
                               });
  __syncthreads();
  for_each_of<bins, applying_threads>([&](int bin) {
    if (counts[bin] != 0)
      DeviceAtomics::add(a.counts + bin, counts[bin]);
  });
}

struct LookUpArguments {
  Arguments equalize;           // the members for counting are unused
  const std::uint16_t* tables;  // one table after the other
  int entries;
};

template <class Pack, Rows kRows, Action kAction, int kChunks>
__global__ void __launch_bounds__(applying_threads, step_blocks)
    look_up_kernel(const __grid_constant__ LookUpArguments a) {
  using S = Sizes<kAction, kChunks>;
  using Entry = typename S::Entry;
  __shared__ alignas(16) Entry table[S::bins];
  grid_dependency_wait();
  launch_dependents();
  for_each_of<S::bins, applying_threads>([&](int i) {
    if (i >= a.entries)
      return;
    const int level = a.tables[i];
    table[i] = static_cast<Entry>(
        kAction == Action::shift ? level : blended(i % S::table_bins, level, a.equalize.blend));
  });
  __syncthreads();
  const std::uint32_t thread = blockIdx.x * applying_threads + threadIdx.x;
  for_packs<Pack, batch<Pack>>(a.equalize.picture, PackCursor<kRows>(a.equalize.picture, thread),
                               a.equalize.stride,
                               [&](std::uint32_t* data, const PackCursor<kRows>& at) {
                                 apply_table<Pack, kAction>(data, at, a.equalize, table);
                                 Pack::template store<kRows>(a.equalize.picture, at, data);
                               });
  copy_vectors(a.equalize.copies, a.equalize.copy_count, thread, gridDim.x * applying_threads);
}

}  // namespace
}  // namespace cudavision::histequalize
