// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The blur with Gaussians of any size. The coefficients, and a ring of the sums along x for all
// rows under the Gaussian, are in shared or scratch memory. A lane reads only its own part of the
// ring. A step blurs two tiles, one below the other, which share the loaded coefficients along x.

#include <cuda_runtime.h>

#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/gaussblur/large_memory.cuh"
#include "cuda/gaussblur/mma.cuh"
#include "cuda/gaussblur/store.cuh"
#include "cuda/gaussblur/work_item.cuh"

namespace cudavision::gaussblur {

template <class Depth>
struct LargeRowSums {
  RowSums<Depth> of[2][Depth::groups];

  /// Adds `count` pairs of slices. from (in its first row) and table point to the first pair.
  template <class Address>
  __device__ void add(const LargeTables<Depth>& tables, const SampleRules<Depth>& rules,
                      SharedAddress from, int pitch, Address table, int count, int g, int t) {
    Address start[Depth::row_sums];
#pragma unroll
    for (int sum = 0; sum < Depth::row_sums; ++sum)
      start[sum] = table + tables.row_start(sum, g, t);
    from += 4 * window_word(0, t, 0);
    const SharedAddress from_below = from + tile_rows * pitch;

#pragma unroll 2
    for (int pair = 0; pair < count; ++pair) {
      uint2 right[2][2];
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        right[0][q] = load_pair(from + q * pitch + pair * tile_bytes);
        right[1][q] = load_pair(from_below + q * pitch + pair * tile_bytes);
      }
#pragma unroll
      for (int tile = 0; tile < 2; ++tile)
#pragma unroll
        for (int q = 0; q < 2; ++q)
          right[tile][q] = make_uint2(rules.read(right[tile][q].x), rules.read(right[tile][q].y));
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
        for (int sum = 0; sum < Depth::row_sums; ++sum) {
          const uint4 left = load_quad(start[sum] + (pair * (tile_bytes / 4) - group) * 16);
#pragma unroll
          for (int tile = 0; tile < 2; ++tile)
#pragma unroll
            for (int q = 0; q < 2; ++q) {
              Sums& sums = of[tile][group].sum[q][sum];
              sums = multiply_pair({left.x, left.y, left.z, left.w}, right[tile][q].x,
                                   right[tile][q].y, sums);
            }
        }
    }
  }
};

/// A lane's part of the ring. A slot holds 32 rows; words of the upper and lower rows alternate.
template <class Depth, bool kInShared>
class LargeRing {
 public:
  static constexpr int quads = Depth::ring_words / 2;
  using Words = std::uint32_t[Depth::groups][2][Depth::result_bytes];

  __device__ LargeRing(void* of_block, int slots) : slots_(slots) {
    uint4* const of_lane =
        static_cast<uint4*>(of_block) + threadIdx.x / 32 * slots * quads * 32 + threadIdx.x % 32;
    if constexpr (kInShared)
      base_ = shared_address(of_lane);
    else
      base_ = of_lane;
  }

  __device__ int slots() const { return slots_; }
  __device__ int after(int slot) const { return slot + 1 == slots_ ? 0 : slot + 1; }

  __device__ void put(int slot, const Words& upper, const Words& lower) const {
    const std::uint32_t* const u = &upper[0][0][0];
    const std::uint32_t* const l = &lower[0][0][0];
#pragma unroll
    for (int v = 0; v < quads; ++v)
      put_quad(slot * quads + v, make_uint4(u[2 * v], l[2 * v], u[2 * v + 1], l[2 * v + 1]));
  }
  __device__ void get(int slot, uint2 (&words)[Depth::ring_words]) const {
#pragma unroll
    for (int v = 0; v < quads; ++v) {
      const uint4 quad = get_quad(slot * quads + v);
      words[2 * v] = make_uint2(quad.x, quad.y);
      words[2 * v + 1] = make_uint2(quad.z, quad.w);
    }
  }

 private:
  __device__ void put_quad(int number, uint4 quad) const {
    if constexpr (kInShared)
      store_quad(base_ + number * 512, quad);
    else
      base_[number * 32] = quad;
  }
  __device__ uint4 get_quad(int number) const {
    if constexpr (kInShared)
      return load_quad(base_ + number * 512);
    else
      return base_[number * 32];
  }

  std::conditional_t<kInShared, SharedAddress, uint4*> base_;
  int slots_;
};

/// Sums along y, for kTiles of the two tiles of a step, starting with tile kFirst.
template <class Depth, int kFirst, int kTiles>
struct LargeColumnSums {
  ColumnSums<Depth> of[kTiles][Depth::groups][2];

  template <class Address, class Ring>
  __device__ LargeColumnSums(const LargeTables<Depth>& tables, Address table, const Ring& ring,
                             int slot, int g, int t) {
    Address start[Depth::coefficient_bytes];
#pragma unroll
    for (int byte = 0; byte < Depth::coefficient_bytes; ++byte)
      start[byte] = table + tables.column_start(byte, g, t);
    const auto add = [&](int k) {
      uint2 right[Depth::ring_words];
      ring.get(slot, right);
      slot = ring.after(slot);
#pragma unroll
      for (int byte = 0; byte < Depth::coefficient_bytes; ++byte)
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          const uint4 left = load_quad(start[byte] + (8 * k + (kFirst + tile == 0 ? 4 : 0)) * 16);
#pragma unroll
          for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
              for (int b = 0; b < Depth::result_bytes; ++b) {
                const uint2 words = right[(group * 2 + half) * Depth::result_bytes + b];
                Sums& sums = of[tile][group][half].sum[b + byte];
                sums = multiply_pair({left.x, left.y, left.z, left.w}, words.x, words.y, sums);
              }
        }
    };
    // Peeled from the loop, so that the compiler knows that the sums start at zero.
    add(0);
#pragma unroll(Depth::sample_bytes == 1 ? 2 : 1)
    for (int k = 1; k < ring.slots(); ++k)
      add(k);
  }

  /// rows_left is the number of rows of the item from this lane's first row on.
  template <class Storer>
  __device__ void store(const SampleRules<Depth>& rules, Storer& storer, int rows_left) const {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      storer.store(rules, 0, result_row(rules, of[tile], 0), result_row(rules, of[tile], 1),
                   rows_left - tile * tile_rows);
      storer.advance();
    }
  }
};

template <class Depth, bool kAllInShared>
__device__ inline void blur_item(const Arguments& a, const WorkItem& item, std::uint8_t* shared) {
  constexpr SlowPath slow_path = kAllInShared ? SlowPath::called : SlowPath::inlined;
  const Plane& plane = a.planes[item.plane];
  const int warps = blockDim.x / 32, warp = threadIdx.x / 32;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;

  const LargeMemory<Depth> memory(a.row_slices, a.column_slices, a.chunk_pairs, warps);
  const LargeTables<Depth> tables(a.row_slices, a.column_slices);
  // Layout: stages, map of the edges, tables, ring. Tables and ring may be in scratch memory.
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
  const int left = item.x - window_halo(a.row_slices);
  const int first_row = item.begin - column_halo(a.column_slices);
  const int warm_up_steps = large_warm_up_steps(a.column_slices);
  const bool lower_first = lower_tile_first(a.column_slices);
  const int steps =
      warm_up_steps +
      (item.end - item.begin + (lower_first ? tile_rows : 0) + large_rows - 1) / large_rows;
  const int loads = steps * parts;

  const int begin = item.begin - plane.column_radius, end = item.end + plane.column_radius;
  const auto part_at = [&](int number) {
    return StagedPart{left + number * a.chunk_pairs * tile_bytes, chunks, begin, end};
  };
  const LargeLoader<slow_path> loader;
  int next_step = 0, next_part = 0;
  const auto load = [&](int number) {
    if (number < loads) {
      loader.load(plane, a.border, part_at(next_part),
                  stages + number % large_stages * memory.stage, pitch,
                  first_row + next_step * large_rows);
      if (++next_part == parts) {
        next_part = 0;
        ++next_step;
      }
    }
    commit_copies();
  };

  const LargeEdges<slow_path> edges(
      plane, a.border, reinterpret_cast<Mirrored*>(shared + large_stages * memory.stage), parts,
      part_at);
  tables.fill(scratch, a.tables + plane.row_table, a.tables + plane.column_table);
  if constexpr (kAllInShared)
    take_over();
#pragma unroll 1
  for (int i = 0; i < large_stages - 1; ++i)
    load(i);
  const SampleRules<Depth> rules = sample_rules<Depth>(a, plane, g);

  const int x = item.x + warp * tile_bytes;
  int bytes_left = plane.row_bytes - x;  // from the warp's first byte
  keep_in_register(bytes_left);
  const bool works = bytes_left > 0;
  Storer<Depth, slow_path> storer(a, plane, x + 8 * t, item.begin + g);
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
      edges.pad(plane, a.border, part_at(part), part, staged, pitch, first_row + step * large_rows);
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

    std::uint32_t words[2][Depth::groups][2][Depth::result_bytes];
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
        sums.of[tile][group].cut(rules, words[tile][group]);
    ring.put(slot, words[0], words[1]);
    slot = ring.after(slot);
    sums = {};
    if (step <= warm_up_steps)
      continue;
    if (step == warm_up_steps + 1 && lower_first) {
      LargeColumnSums<Depth, 1, 1>(tables, table, ring, slot, g, t).store(rules, storer, rows_left);
      rows_left -= tile_rows;
      continue;
    }
    // With 8-bit samples and 16-bit coefficients, registers do not suffice for both tiles.
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
    blur_large(const __grid_constant__ Arguments a) {
  extern __shared__ __align__(16) std::uint8_t shared[];
  // The previous launch may still be reading the scratch memory that this launch overwrites.
  if constexpr (!kAllInShared)
    take_over();
#pragma unroll 1
  for (int number = blockIdx.x; number < a.item_count; number += gridDim.x) {
    const int width = blockDim.x / 32 * tile_bytes;
    const WorkItem item(a, number, width, a.everywhere);
    if (!item.is_in_plane(a)) {
      if constexpr (kAllInShared)
        take_over();
      continue;
    }
    blur_item<Depth, kAllInShared>(a, item, shared);
    __syncthreads();
  }
}

}  // namespace cudavision::gaussblur
