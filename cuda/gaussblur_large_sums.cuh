// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The steps of the blur with kernels of any size: staging, sums along x, the ring, sums along y.
// For .cu files.

#include <cuda_runtime.h>

#include <type_traits>

#include "gaussblur_large_memory.cuh"

namespace cudavision {

/// Sends 32 rows of a part on their way, from row y on. 16 threads of a block work on the same row.
template <RareCode kRare>
__device__ inline void stage_rows(const BlurPicture& picture, Border border, const StagedPart& part,
                                  SharedAddress stage, int pitch, int y) {
  const int c0 = threadIdx.x % 16, rows = picture.rows;
  // Mostly there is nothing to look out for.
  if (y >= 0 && y + large_rows <= rows && part.first >= 0 && part.last() <= picture.inner_bytes &&
      picture.load_bytes == 16) {
    SharedAddress to_row = stage + threadIdx.x / 16 * pitch + c0 * chunk_bytes;
    const std::uint8_t* from_row =
        picture.in +
        static_cast<std::int64_t>(y + static_cast<int>(threadIdx.x) / 16) * picture.in_pitch +
        part.first + c0 * chunk_bytes;
    const int step = blockDim.x / 16;
    const std::int64_t from_step = static_cast<std::int64_t>(step) * picture.in_pitch;
#pragma unroll 1
    for (int r = threadIdx.x / 16; r < large_rows; r += step) {
#pragma unroll 4
      for (int c = c0; c < part.chunks; c += 16)
        copy_async<16>(to_row + (c - c0) * chunk_bytes, from_row + (c - c0) * chunk_bytes);
      to_row += step * pitch;
      from_row += from_step;
    }
    return;
  }
  const int whole_end = picture.load_bytes == 16 ? picture.inner_bytes - chunk_bytes : -1;
#pragma unroll 1
  for (int r = threadIdx.x / 16; r < large_rows; r += blockDim.x / 16) {
    if (y + r < part.begin || y + r >= part.end)
      continue;
    const bool inside = static_cast<unsigned>(y + r) < static_cast<unsigned>(rows);
    const std::uint8_t* const row =
        picture.in + static_cast<std::int64_t>(y + r) * picture.in_pitch;
    SharedAddress to = stage + r * pitch + c0 * chunk_bytes;
    int position = part.first + c0 * chunk_bytes;
#pragma unroll 1
    for (int c = c0; c < part.chunks;
         c += 16, to += 16 * chunk_bytes, position += 16 * chunk_bytes) {
      if (inside && position >= 0 && position <= whole_end)
        copy_async<16>(to, row + position);
      else if (!inside || is_inner_chunk(picture, position))
        kRare == RareCode::called ? call_stage_any_chunk(picture, border, to, y + r, position)
                                  : stage_any_chunk(picture, border, to, y + r, position);
    }
  }
}

/// The sums of two tiles' rows along x.
template <class Depth>
struct LargeRowSums {
  RowSums<Depth> of[2][Depth::groups];

  /// Adds those over a part of the window: `count` pairs of slices. from: where the part begins in
  /// this lane's first row; table: the tables' quads for its first pair.
  template <class Address>
  __device__ void add(const LargeTables<Depth>& tables, const SampleRules<Depth>& rules,
                      SharedAddress from, int pitch, Address table, int count, int g, int t) {
    Address start[Depth::groups][Depth::row_sums];
#pragma unroll
    for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
      for (int sum = 0; sum < Depth::row_sums; ++sum)
        start[group][sum] = table + tables.row_start(sum, group, g, t);
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
          const uint4 left = load_quad(start[group][sum] + pair * (tile_bytes / 4 * 16));
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

/// A lane's part of the ring: slots for the sums of 32 rows each. The words of the lower 16 rows
/// lie beside those of the upper ones, with which they are multiplied.
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
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(base_ + number * 512),
                   "r"(quad.x), "r"(quad.y), "r"(quad.z), "r"(quad.w)
                   : "memory");
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

/// The sums of kTiles tiles along y, the first of them being tile number kFirst of the two.
template <class Depth, int kFirst, int kTiles>
struct LargeColumnSums {
  ColumnSums<Depth> of[kTiles][Depth::groups][2];

  /// slot: the oldest of the ring.
  template <class Address, class Ring>
  __device__ LargeColumnSums(const LargeTables<Depth>& tables, Address table, const Ring& ring,
                             int slot, int slots, int g, int t) {
    constexpr int bytes = Depth::coefficient_bytes;
    Address start[bytes];
#pragma unroll
    for (int byte = 0; byte < bytes; ++byte)
      start[byte] = table + tables.column_start(byte, g, t);
#pragma unroll(Depth::sample_bytes == 1 ? 2 : 1)
    for (int k = 0; k < slots; ++k) {
      uint2 right[Depth::ring_words];
      ring.get(slot, right);
      slot = ring.after(slot);
#pragma unroll
      for (int byte = 0; byte < bytes; ++byte)
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          // The upper tile's coefficients are one slice further on.
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
    }
  }

  /// rows_left: from this lane's first row of the first tile on.
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

/// For each part of the window: where the bytes beyond the ends of the rows are mirrored from,
/// which is the same for all rows.
template <RareCode kRare>
class LargeEdges {
 public:
  /// map: of as many words for each part as it has bytes. part_at: the part of that number.
  template <class PartAt>
  __device__ LargeEdges(const BlurPicture& picture, Border border, std::uint16_t* map, int parts,
                        const PartAt& part_at)
      : map_(map) {
    bool mirrored = maps_edges(parts);
    for (int p = 0; p < parts; ++p) {
      const StagedPart part = part_at(p);
      const int edges = part.edge_bytes(picture);
      for (int i = threadIdx.x; i < edges && maps_edges(parts); i += blockDim.x) {
        const int from = source_of_edge(picture, border, part.edge_position(picture, i));
        mirrored = mirrored && part.has(picture, from);
        map[p * part.chunks * chunk_bytes + i] = static_cast<std::uint16_t>(from - part.first);
      }
      any_ = any_ || edges > 0;
    }
    mirrored_ = !any_ || __syncthreads_and(mirrored);
  }

  __device__ bool any() const { return any_; }

  /// Adds the bytes to a stage that has arrived, with the rows from y on.
  __device__ void add(const BlurPicture& picture, Border border, const StagedPart& part, int number,
                      SharedAddress stage, int pitch, int y) const {
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (!mirrored_) {
      if constexpr (kRare == RareCode::called)
        call_add_edges(picture, border, part, stage, pitch, y, large_rows, warp, warps);
      else
        add_edges(picture, border, part, stage, pitch, y, large_rows, warp, warps);
      return;
    }
    const int edges = part.edge_bytes(picture);
#pragma unroll 1
    for (int i = threadIdx.x % 32; i < edges; i += 32) {
      const SharedAddress to = stage + part.edge_position(picture, i) - part.first;
      const SharedAddress from = stage + map_[number * part.chunks * chunk_bytes + i];
#pragma unroll 4
      for (int r = warp; r < large_rows; r += warps)
        store_byte(to + r * pitch, load_byte(from + r * pitch));
    }
  }

 private:
  const std::uint16_t* map_;
  bool any_ = false;
  bool mirrored_;
};

}  // namespace cudavision
