// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The steps of the blur with kernels of any size: staging, sums along x, the ring, sums along y.
// For .cu files.

#include <cuda_runtime.h>

#include <type_traits>

#include "cuda/gaussblur/large_memory.cuh"

namespace cudavision::gaussblur {

/// Sends rows of a part on their way. Threads beside each other work on the same row, as few as it
/// takes for all rows at once, but not fewer than eight.
template <RareCode kRare>
class LargeLoader {
 public:
  __device__ LargeLoader()
      : row_(static_cast<int>(threadIdx.x) / per_row()),
        chunk_(static_cast<int>(threadIdx.x) % per_row()) {}

  /// 32 rows, from row y on.
  __device__ void load(const BlurPicture& picture, Border border, const StagedPart& part,
                       SharedAddress stage, int pitch, int y) const {
    const bool aligned = picture.load_bytes == 16;
    const unsigned whole_end = aligned ? max(picture.inner_bytes - chunk_bytes + 1, 0) : 0;
    const bool all_whole =
        aligned && (part.last() <= picture.inner_bytes || picture.inner_bytes % chunk_bytes == 0);
    const int first = part.first + chunk_ * chunk_bytes, step = per_row() * chunk_bytes;
#pragma unroll 1
    for (int r = row_; r < large_rows; r += rows_at_a_time()) {
      const int row = y + r;
      if (row < part.begin || row >= part.end)
        continue;
      const int source = border_index(row, picture.rows, border);
      const SharedAddress to = stage + r * pitch + chunk_ * chunk_bytes;
      if (source >= 0) {
        const std::uint8_t* const from =
            picture.in + static_cast<std::int64_t>(source) * picture.in_pitch + first;
        // Several with addresses of their own: a register that a copy is going to read cannot be
        // written to.
        constexpr int copies = 3;
#pragma unroll 1
        for (int i = 0; chunk_ + i * per_row() < part.chunks; i += copies)
#pragma unroll
          for (int k = 0; k < copies; ++k) {
            const int distance = (i + k) * step;
            if (chunk_ + (i + k) * per_row() < part.chunks &&
                static_cast<unsigned>(first + distance) < whole_end)
              copy_async<16>(to + distance, from + distance);
          }
      }
      if (source < 0 || !all_whole)
        load_specially(picture, border, part, to, row, whole_end);
    }
  }

 private:
  static constexpr int least_per_row = 8;

  __device__ static int per_row() {
    return max(static_cast<int>(blockDim.x) / large_rows, least_per_row);
  }
  __device__ static int rows_at_a_time() {
    return min(static_cast<int>(blockDim.x) / least_per_row, large_rows);
  }

  /// The chunks that need more than a copy.
  __device__ void load_specially(const BlurPicture& picture, Border border, const StagedPart& part,
                                 SharedAddress to, int row, unsigned whole_end) const {
    const bool constant = border_index(row, picture.rows, border) < 0;
#pragma unroll 1
    for (int c = chunk_; c < part.chunks; c += per_row(), to += per_row() * chunk_bytes) {
      const int position = part.first + c * chunk_bytes;
      if (constant ||
          (is_inner_chunk(picture, position) && static_cast<unsigned>(position) >= whole_end))
        kRare == RareCode::called ? call_stage_any_chunk(picture, border, to, row, position)
                                  : stage_any_chunk(picture, border, to, row, position);
    }
  }

  const int row_;    // of the first chunk
  const int chunk_;  // in its row
};

/// The sums of two tiles' rows along x.
template <class Depth>
struct LargeRowSums {
  RowSums<Depth> of[2][Depth::groups];

  /// Adds those over a part of the window: `count` pairs of slices. from: where the part begins in
  /// this lane's first row; table: the tables' quads for its first pair.
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
    // The first by itself: there the sums are known to be zero.
    add(0);
#pragma unroll(Depth::sample_bytes == 1 ? 2 : 1)
    for (int k = 1; k < ring.slots(); ++k)
      add(k);
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
  /// map: of as many elements for each part as it has bytes. part_at: the part of that number.
  template <class PartAt>
  __device__ LargeEdges(const BlurPicture& picture, Border border, Mirrored* map, int parts,
                        const PartAt& part_at)
      : map_(map) {
    bool mirrored = maps_edges(parts);
    for (int p = 0; p < parts; ++p) {
      const StagedPart part = part_at(p);
      const int edges = part.edge_bytes(picture);
      for (int i = threadIdx.x; i < edges && maps_edges(parts); i += blockDim.x) {
        const int to = part.edge_position(picture, i);
        const int from = source_of_edge(picture, border, to);
        mirrored = mirrored && part.has(picture, from);
        map[p * part.chunks * chunk_bytes + i] = {static_cast<std::uint16_t>(from - part.first),
                                                  static_cast<std::uint16_t>(to - part.first)};
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
    // A warp takes every fourth row of 32 bytes beside each other.
    constexpr int shares = 4, share_rows = large_rows / shares;
    const int edges = part.edge_bytes(picture);
#pragma unroll 1
    for (int n = warp; n / shares * 32 < edges; n += warps) {
      const int i = n / shares * 32 + threadIdx.x % 32;
      if (i >= edges)
        continue;
      const Mirrored byte = map_[number * part.chunks * chunk_bytes + i];
      const SharedAddress row = stage + n % shares * pitch;
      std::uint8_t bytes[share_rows];
#pragma unroll
      for (int r = 0; r < share_rows; ++r)
        bytes[r] = load_byte(row + byte.from + r * shares * pitch);
#pragma unroll
      for (int r = 0; r < share_rows; ++r)
        store_byte(row + byte.to + r * shares * pitch, bytes[r]);
    }
  }

 private:
  const Mirrored* map_;
  bool any_ = false;
  bool mirrored_;
};

}  // namespace cudavision::gaussblur
