// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The blur with kernels of any size. What the other kernel keeps in registers lies in shared memory
// here: the coefficients, and in a ring the sums along x of as many rows as the kernel is high. A
// lane reads from the ring only what it wrote there itself. Tiles are taken in twos, one below the
// other, so that what is read is used twice. For .cu files.

#include <cuda_runtime.h>

#include "cuda/gaussblur/small.cuh"
#include "cuda/gaussblur/large_sums.cuh"

namespace cudavision::gaussblur {

/// Until this returns, a block may only do what earlier launches have no part in. The next launch
/// is let in at once: its blocks find room as those of this one end, and prepare themselves
/// meanwhile.
__device__ inline void take_over() {
  grid_dependency_wait();
  launch_dependents();
}

template <class Depth, bool kAllInShared>
__device__ inline void blur_item(const BlurArguments& a, const BlurItem& item,
                                 std::uint8_t* shared) {
  constexpr RareCode rare = kAllInShared ? RareCode::called : RareCode::inlined;
  const BlurPicture& picture = a.pictures[item.picture];
  const int warps = blockDim.x / 32, warp = threadIdx.x / 32;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;

  const LargeMemory<Depth> memory(a.row_slices, a.column_slices, a.chunk_pairs, warps);
  const LargeTables<Depth> tables(a.row_slices, a.column_slices);
  // Stages and the map of the edges; the tables and the ring, behind them or elsewhere.
  const SharedAddress stages = shared_address(shared);
  std::uint8_t* const scratch =
      kAllInShared ? shared + memory.shared(false)
                   : a.scratch + static_cast<std::size_t>(blockIdx.x) * memory.scratch();
  std::conditional_t<kAllInShared, SharedAddress, const std::uint8_t*> table;
  if constexpr (kAllInShared)
    table = shared_address(scratch);
  else
    table = scratch;
  const LargeRing<Depth, kAllInShared> ring(scratch + memory.tables,
                                            large_ring_slots(a.column_slices));

  const int chunks = LargeMemory<Depth>::chunks(a.chunk_pairs, warps);
  const int pitch = stage_pitch(chunks);
  const int pairs = a.row_slices / 2;
  const int parts = window_parts(a.row_slices, a.chunk_pairs);
  const int left = item.x - window_lead(a.row_slices);
  const int first_row = item.begin - column_lead(a.column_slices);
  const int leading_steps = large_leading_steps(a.column_slices);
  const bool lower_first = lower_tile_first(a.column_slices);
  const int steps =
      leading_steps +
      (item.end - item.begin + (lower_first ? tile_rows : 0) + large_rows - 1) / large_rows;
  const int loads = steps * parts;

  const int begin = item.begin - picture.column_radius, end = item.end + picture.column_radius;
  const auto part_at = [&](int number) {
    return StagedPart{left + number * a.chunk_pairs * tile_bytes, chunks, begin, end};
  };
  const LargeLoader<rare> loader;
  int next_step = 0, next_part = 0;
  const auto load = [&](int number) {
    if (number < loads) {
      loader.load(picture, a.border, part_at(next_part),
                  stages + number % large_stages * memory.stage, pitch,
                  first_row + next_step * large_rows);
      if (++next_part == parts) {
        next_part = 0;
        ++next_step;
      }
    }
    commit_copies();
  };

  const LargeEdges<rare> edges(picture, a.border,
                               reinterpret_cast<Mirrored*>(shared + large_stages * memory.stage),
                               parts, part_at);
  tables.fill(scratch, a.tables + picture.row_table, a.tables + picture.column_table);
  if constexpr (kAllInShared)
    take_over();
#pragma unroll 1
  for (int i = 0; i < large_stages - 1; ++i)
    load(i);
  const SampleRules<Depth> rules = sample_rules<Depth>(a, picture, g);

  const int x = item.x + warp * tile_bytes;
  int bytes_left = picture.row_bytes - x;  // from the warp's tiles on
  keep_in_register(bytes_left);
  const bool works = bytes_left > 0;
  Storer<Depth, rare> storer(a, picture, x + 8 * t, item.begin + g);
  int rows_left = item.end - item.begin - g;
  const int window = row_of_column(0, g) * pitch + warp * tile_bytes;
  int step = 0, part = 0, slot = 0;
  LargeRowSums<Depth> sums{};

#pragma unroll 1
  for (int i = 0; i < loads; ++i) {
    wait_for_copies<large_stages - 2>();
    __syncthreads();
    const SharedAddress staged = stages + i % large_stages * memory.stage;
    load(i + large_stages - 1);
    if (edges.any()) {
      edges.add(picture, a.border, part_at(part), part, staged, pitch,
                first_row + step * large_rows);
      __syncthreads();
    }

    const int first_pair = part * a.chunk_pairs;
    if (works)
      sums.add(tables, rules, staged + window, pitch, table + first_pair * (tile_bytes / 4 * 16),
               min(a.chunk_pairs, pairs - first_pair), g, t);
    if (++part < parts)
      continue;
    part = 0;
    ++step;
    if (!works)
      continue;

    // All sums along x of these rows are there.
    std::uint32_t words[2][Depth::groups][2][Depth::result_bytes];
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
        sums.of[tile][group].cut(rules, words[tile][group]);
    ring.put(slot, words[0], words[1]);
    slot = ring.after(slot);
    sums = {};
    if (step <= leading_steps)
      continue;
    if (step == leading_steps + 1 && lower_first) {
      LargeColumnSums<Depth, 1, 1>(tables, table, ring, slot, g, t).store(rules, storer, rows_left);
      rows_left -= tile_rows;
      continue;
    }
    // Finer sums are too many for both tiles at once.
    if constexpr (Depth::column_sums * Depth::groups <= 5) {
      LargeColumnSums<Depth, 0, 2>(tables, table, ring, slot, g, t).store(rules, storer, rows_left);
    } else {
      LargeColumnSums<Depth, 0, 1>(tables, table, ring, slot, g, t).store(rules, storer, rows_left);
      LargeColumnSums<Depth, 1, 1>(tables, table, ring, slot, g, t)
          .store(rules, storer, rows_left - tile_rows);
    }
    rows_left -= large_rows;
  }
}

template <class Depth, bool kAllInShared>
__global__ void __launch_bounds__(32 * (kAllInShared ? large_warps : scratch_warps),
                                  kAllInShared ? 1 : scratch_blocks_per_multiprocessor)
    blur_any(const __grid_constant__ BlurArguments a) {
  extern __shared__ __align__(16) std::uint8_t shared[];
  // The last launch may still be reading the tables that this one puts in their place.
  if constexpr (!kAllInShared)
    take_over();
#pragma unroll 1
  for (int number = blockIdx.x; number < a.item_count; number += gridDim.x) {
    blur_item<Depth, kAllInShared>(a, BlurItem(a, number, blockDim.x / 32 * tile_bytes), shared);
    __syncthreads();
  }
}

}  // namespace cudavision::gaussblur
