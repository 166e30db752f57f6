// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Non-local means on the tensor cores (product.h). Shared memory holds a tile with the halo of the
// search, and the norms of all candidates. A warp denoises a column of squares of 4×4 pixels. It
// processes eight adjacent candidates at a time: a first product compares them with the pixels, a
// table gives the weights, and a second product adds the weighted samples. With several frames, the
// tile holds one frame after the other; the block stores the first frame's patches and the sums.

#include <cuda_runtime.h>

#include <utility>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/matrix_product.cuh"
#include "cuda/nlmeans/opaque_value.cuh"
#include "cuda/nlmeans/productfill.h"
#include "cuda/nlmeans/productlane.h"

namespace cudavision::nlmeans {

enum class Table {
  aligned,  ///< in shared memory; the scaled distance is the index, without a shift
  shared,   ///< in shared memory
  global,   ///< in device memory
};

/// Returns true if registers suffice for this kind of kernel and this table.
template <class Kind>
constexpr bool has_registers(Table table) {
  return Kind::squares == 1 || table == Table::aligned ||
         (table == Table::shared && Kind::planes == 1);
}

template <class Kind>
constexpr int min_resident_blocks(Table table) {
  return table == Table::global && Kind::left_words > 32 ? 1 : Kind::resident_blocks;
}

/// The parts of a block's shared memory after the table.
template <class Kind, Table kTable>
struct ProductMemory {
  std::uint32_t* pixels;
  int* norms;
  ProductTile* tile;
  std::uint32_t* reference;  ///< ReferenceFrame; only with several frames

  __device__ ProductMemory(const NlMeansArguments& a, std::uint32_t* table)
      : pixels(table + opaque_value(kTable == Table::global ? 0 : a.table_words)),
        norms(reinterpret_cast<int*>(pixels + Kind::planes * a.shape.plane_words)),
        tile(reinterpret_cast<ProductTile*>(norms + Kind::sample_bytes * a.shape.norm_words())),
        reference(reinterpret_cast<std::uint32_t*>(tile + 1)) {}
};

template <class Kind, Table kTable>
class ProductWarp {
 public:
  /// `top` is the first row of the warp's squares in the tile.
  __device__ __forceinline__ ProductWarp(const NlMeansArguments& a, std::uint32_t* table, int top)
      : a_(a),
        table_(table),
        table_lane_((threadIdx.x & ((1 << a.copies_log2) - 1)) * 4),
        lane_(a, position(top),
              kTable == Table::global
                  ? 0
                  : static_cast<int>(__cvta_generic_to_shared(table)) << a.index_shift) {}

  __device__ __forceinline__ void add_candidates(int top, int group) {
    Candidates candidates = lane_.candidates(position(top), group);
    if (Kind::squares == 1 && a_.search_radius == 1) {
      add_pairs<RowPair::first>(candidates);
      add_pairs<RowPair::second_of_three>(candidates);
      add_pairs<RowPair::last>(candidates);
      return;
    }
    constexpr auto steps = std::make_integer_sequence<int, first_steps>();
    add_first_pairs(candidates, steps);
#pragma unroll steps_at_once
    for (int step = first_steps; step < a_.search_radius; ++step)
      add_pairs_from_top<first_steps>(candidates, squares_in_order);
    candidates.row_bias = RowBias(position(top).g());
    add_last_pairs(candidates, steps);
  }

  /// Calls put(x, y, samples) in one lane per pixel or, if frames follow, stores the sums.
  template <class Put>
  __device__ __forceinline__ void finish(int top, const Put& put) const {
    const LanePosition at = position(top);
    constexpr int pixels = 2 * Kind::squares;
    const int t = at.t();
#pragma unroll
    for (int first = 0; first < pixels; first += 4) {
      std::uint32_t sums[Kind::planes + 1];
#pragma unroll
      for (int pixel = first; pixel < first + 4 && pixel < pixels; ++pixel)
#pragma unroll
        for (int source = 0; source <= Kind::planes; ++source) {
          const auto& in_lane = sums_[pixel / 2][source < Kind::planes ? source / 2 : 0].v;
          const int half = pixel % 2 * 2;
          std::uint32_t sum = source < Kind::planes
                                  ? plane_part(at.t(), in_lane[half + source % 2])
                                  : weight_part(at.t(), in_lane[half], in_lane[half + 1]);
          sum += __shfl_xor_sync(~0u, sum, 1);
          sum += __shfl_xor_sync(~0u, sum, 2);
          if (pixel == first || pixel % 4 == t)
            sums[source] = sum;
        }
      if (first + t >= pixels || (a_.frame_count > 1 && stores_sums(at, first + t, sums)))
        continue;
      std::uint32_t means[Kind::channels];
#pragma unroll
      for (int c = 0; c < Kind::channels; ++c)
        means[c] = mean_of<Kind>(sums, c, a_.low_bits);
      put(at.x(), at.y(first + t), means);
    }
  }

 private:
  using CandidateRow = typename ProductLane<Kind>::CandidateRow;
  using Candidates = typename ProductLane<Kind>::Candidates;

  __device__ __forceinline__ LanePosition position(int top) const {
    const ProductMemory<Kind, kTable> memory(a_, table_);
    return {memory.pixels, memory.norms, a_.frame_count > 1 ? memory.reference : nullptr,
            thread_number(), top};
  }

  /// Adds the sums over the previous frames. Returns true and stores the sums if a frame follows.
  __device__ __forceinline__ bool stores_sums(const LanePosition& at, int pixel,
                                              std::uint32_t (&sums)[Kind::planes + 1]) const {
    const ReferenceFrame<Kind> reference(a_.shape.strips);
    const volatile ProductTile& tile = *ProductMemory<Kind, kTable>(a_, table_).tile;
    const int frame = tile.frame;
    std::uint32_t* const sums_before = ProductMemory<Kind, kTable>(a_, table_).reference +
                                       reference.sums() + reference.pixel(at.x(), at.y(pixel));
#pragma unroll
    for (int i = 0; i <= Kind::planes; ++i) {
      if (frame > 0)
        sums[i] += sums_before[i * reference.pixels];
      if (frame + 1 < a_.frame_count)
        sums_before[i * reference.pixels] = sums[i];
    }
    return frame + 1 < a_.frame_count;
  }

  /// True if registers do not suffice for two rows of candidates.
  static constexpr bool loads_row_by_row = Kind::squares == 1 || Kind::words > 4;

  /// Steps per branch-free piece of code. Within a piece, the compiler can overlap a step with the
  /// latency of the products (8 bits on an H200: 434 instead of 466 µs).
  static constexpr int steps_at_once = Kind::squares > 1 && Kind::planes == 1 ? 4 : 1;

  /// Unrolled steps at each end, where a pair of rows has different classes for the squares.
  static constexpr int first_steps = 2 * Kind::squares;
  static constexpr auto squares_in_order = std::make_integer_sequence<int, Kind::squares>();

  template <int... kSteps>
  __device__ __forceinline__ void add_first_pairs(Candidates& candidates,
                                                  std::integer_sequence<int, kSteps...>) {
    (add_pairs_from_top<kSteps>(candidates, squares_in_order), ...);
  }

  template <int... kSteps>
  __device__ __forceinline__ void add_last_pairs(Candidates& candidates,
                                                 std::integer_sequence<int, kSteps...>) {
    (add_pairs_to_bottom<kSteps>(candidates, squares_in_order), ...);
  }

  template <int kStep, int... kSquares>
  __device__ __forceinline__ void add_pairs_from_top(Candidates& candidates,
                                                     std::integer_sequence<int, kSquares...>) {
    add_pairs<pair_from_top(kStep - 2 * kSquares)...>(candidates);
  }

  template <int kStep, int... kSquares>
  __device__ __forceinline__ void add_pairs_to_bottom(Candidates& candidates,
                                                      std::integer_sequence<int, kSquares...>) {
    add_pairs<pair_to_bottom(kStep - 2 * kSquares)...>(candidates);
  }

  /// kPairs lists the class of the pair of rows for each square. No branches separate the squares,
  /// so that the compiler can overlap them with the latency of the products.
  template <RowPair... kPairs>
  __device__ __forceinline__ void add_pairs(Candidates& candidates) {
    if constexpr (sizeof...(kPairs) == Kind::squares) {
      constexpr RowPair pairs[] = {kPairs...};
      if constexpr (loads_row_by_row) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const CandidateRow row = lane_.load(candidates, r);
#pragma unroll
          for (int s = 0; s < Kind::squares; ++s)
            if (pairs[s] != RowPair::none)
              add_row(s, pairs[s], r, candidates, row);
          // The barrier keeps the compiler from loading the next row early.
          if (Kind::squares == 1)
            __syncwarp();
        }
      } else {
        CandidateRow rows[2];
#pragma unroll
        for (int r = 0; r < 2; ++r)
          rows[r] = lane_.load(candidates, r);
#pragma unroll
        for (int s = 0; s < Kind::squares; ++s)
#pragma unroll
          for (int r = 0; r < 2; ++r)
            if (pairs[s] != RowPair::none)
              add_row(s, pairs[s], r, candidates, rows[r]);
      }
      candidates.skip(2);
    }
  }

  __device__ __forceinline__ void add_row(int s, RowPair pair, int r, const Candidates& from,
                                          const CandidateRow& candidates) {
    constexpr int bytes = Kind::sample_bytes;
    const auto& right = candidates.right;
    Sums high{}, cross{}, low{};
#pragma unroll
    for (int c = 0; c < Kind::channels; ++c) {
      const int upper = bytes * c, lower = bytes * c + bytes - 1;
      high = add_product(lane_.left(s, upper), right[upper], high);
      if (bytes == 2) {
        cross = add_product(lane_.left(s, upper), right[lower], cross);
        cross = add_product(lane_.left(s, lower), right[upper], cross);
        if (!Kind::joins_planes)
          low = add_product(lane_.left(s, lower), right[lower], low);
      }
    }
    if constexpr (Kind::joins_planes) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        low.v[i] = cross.v[i] << a_.low_bits;
      low = add_product(lane_.left(s, 1), right[1], low);
    }
    std::uint32_t weights[4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (!skips(pair, i / 2))
        weights[i] = weight(lane_.distance(s, i / 2, i % 2, from, candidates, pair, r, high.v[i],
                                           cross.v[i], low.v[i]));
    const std::uint32_t factor[4] = {weights[0], weights[2], weights[1], weights[3]};
#pragma unroll
    for (int m = 0; m < Kind::products; ++m)
      sums_[s][m] =
          multiply_pair(factor, candidates.samples[m][0], candidates.samples[m][1], sums_[s][m]);
  }

  static __device__ Sums add_product(const std::uint32_t (&left)[2 * Kind::words],
                                     const std::uint32_t (&right)[Kind::words], Sums sums) {
#pragma unroll
    for (int i = 0; i + 1 < Kind::words; i += 2) {
      const std::uint32_t factor[4] = {left[2 * i], left[2 * i + 1], left[2 * i + 2],
                                       left[2 * i + 3]};
      sums = multiply_pair(factor, right[i], right[i + 1], sums);
    }
    if (Kind::words % 2 == 1)
      sums = multiply_slice(left[2 * Kind::words - 2], left[2 * Kind::words - 1],
                            right[Kind::words - 1], sums);
    return sums;
  }

  __device__ std::uint32_t weight(int distance) const {
    if (kTable == Table::global)
      return __ldg(a_.weights + (static_cast<std::uint32_t>(distance) >> a_.index_shift));
    const int entry = kTable == Table::aligned ? distance : distance >> a_.index_shift;
    // Computes (entry & mask) | lane in one instruction. In long loops, the compiler would use two.
    std::uint32_t at, found;
    asm("lop3.b32 %0, %1, %2, %3, 0xEA;"
        : "=r"(at)
        : "r"(entry), "r"(a_.table_mask), "r"(table_lane_));
    asm("ld.shared.u32 %0, [%1];" : "=r"(found) : "r"(at));
    return found;
  }

  const NlMeansArguments& a_;
  std::uint32_t* table_;
  std::uint32_t table_lane_;  // offset of the lane's copies in bytes
  ProductLane<Kind> lane_;
  Sums sums_[Kind::squares][Kind::products] = {};
};

/// To save registers, the tile is reread for each strip, and one counter counts strips and groups.
template <class Kind, Table kTable>
__device__ __forceinline__ void search_tile(const NlMeansArguments& a, std::uint32_t* table) {
  const auto tile = [&]() -> const volatile ProductTile& {
    return *ProductMemory<Kind, kTable>(a, table).tile;
  };
  constexpr int strip_bits = 16;
  for (int count = 0; count >> strip_bits < tile().strips;) {
    const auto squares_top = [&] { return (count >> strip_bits) * Kind::strip_height; };
    ProductWarp<Kind, kTable> work(a, table, squares_top());
    for (; (count & 0xffff) < a.shape.column_groups; ++count)
      work.add_candidates(squares_top(), count & 0xffff);
    const DenoisedPicture& picture = a.pictures[tile().picture];
    const int left = tile().left, top = tile().top;
    work.finish(squares_top(),
                [&](int tile_x, int tile_y, const std::uint32_t(&means)[Kind::channels]) {
                  const int x = left + tile_x, y = top + tile_y;
                  if (x >= picture.width || y >= picture.height)
                    return;
#pragma unroll
                  for (int c = 0; c < Kind::channels; ++c)
                    store_sample<Kind::sample_bytes>(a, picture.planes[c], x, y, means[c]);
                });
    count = ((count >> strip_bits) + 1) << strip_bits;
  }
}

template <class Kind, Table kTable>
__global__ void __launch_bounds__(product_threads, min_resident_blocks<Kind>(kTable))
    denoise_mma(const __grid_constant__ NlMeansArguments a) {
  // Aligned to the copies of an entry, as table_mask requires.
  extern __shared__ __align__(128) std::uint32_t table[];
  grid_dependency_wait();
  if (!is_chosen(a))
    return;
  // If little of the frame is denoised, the next launch may use the idle part of the GPU.
  if (!a.everywhere)
    launch_dependents();
  if (kTable != Table::global) {
    // The table ends with a weight of 0, which also fills the words up to table_words.
    const auto entry = [&](int word) {
      return __ldg(a.weights +
                   min(static_cast<std::uint32_t>(word >> a.copies_log2), a.last_weight + 1));
    };
    for (int word = 4 * threadIdx.x; word < a.table_words; word += 4 * product_threads) {
      const std::uint32_t first = entry(word);
      uint4 four{first, first, first, first};
      if (a.copies_log2 < 2) {
        four.y = entry(word + 1);
        four.z = entry(word + 2);
        four.w = entry(word + 3);
      }
      reinterpret_cast<uint4*>(table)[word / 4] = four;
    }
  }

  unsigned share = blockIdx.x, strip = first_strip(a, share);
  while (share < a.shares) {
    ProductTile tile = tile_at<Kind>(a, share, strip);
    const auto advance = [&] {
      share = tile.share;
      strip = tile.next;
      if (strip == first_strip(a, share + 1)) {
        share += gridDim.x;
        strip = first_strip(a, share);
      }
    };
    if (!is_active(a, a.pictures[tile.picture], tile.left, tile.top, Kind::strip_width,
                   Kind::strip_height * tile.strips)) {
      advance();
      continue;
    }
    do {
      const ProductMemory<Kind, kTable> memory(a, table);
      __syncthreads();  // all warps have finished the previous tile
      if (threadIdx.x == 0)
        *memory.tile = tile;
      load_samples<Kind>(a, tile, thread_number(), memory.pixels);
      __syncthreads();
      copy_samples<Kind>(a.shape, thread_number(), memory.pixels);
      __syncthreads();
      find_norms<Kind>(a, tile.strips, thread_number(), memory.pixels, memory.norms);
      __syncthreads();
      if (tile.frame == 0 && a.frame_count > 1) {
        store_reference<Kind>(a, opaque_value(tile.strips), thread_number(), memory.pixels,
                              memory.norms, memory.reference);
        __syncthreads();
      }
      search_tile<Kind, kTable>(a, table);
      const volatile ProductTile& shared_tile = *ProductMemory<Kind, kTable>(a, table).tile;
      tile = {shared_tile.picture, shared_tile.left,  shared_tile.top, shared_tile.strips,
              shared_tile.frame,   shared_tile.share, shared_tile.next};
    } while (++tile.frame < a.frame_count);
    advance();
  }
  launch_dependents();
}

}  // namespace cudavision::nlmeans
