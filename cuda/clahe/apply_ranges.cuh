// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Applies the tables to samples of more than 12 bits. The quads of all values may exceed shared
// memory, so a block keeps its pixels in registers and loads the quads of one range at a time.
// Loading a range costs as much as a few thousand single reads, so small tiles use apply.cuh.

#include "cuda/clahe/patch.cuh"

namespace cudavision::clahe {
namespace {

constexpr int kRangesThreads = 512;
constexpr int kHeldPacks = 8;  // per thread, in registers

__device__ void store_quads(uint2* quads, const CellTables& tables, int value) {
  const auto four = [=](const std::uint16_t* table) {
    return *reinterpret_cast<const uint2*>(table + value);
  };
  const uint2 ul = four(tables.upper_left), ur = four(tables.upper_right);
  const uint2 ll = four(tables.lower_left), lr = four(tables.lower_right);
  constexpr std::uint32_t low = 0x5410, high = 0x7632;
  uint4* to = reinterpret_cast<uint4*>(quads);
  to[0] = make_uint4(select_bytes(ul.x, ur.x, low), select_bytes(ll.x, lr.x, low),
                     select_bytes(ul.x, ur.x, high), select_bytes(ll.x, lr.x, high));
  to[1] = make_uint4(select_bytes(ul.y, ur.y, low), select_bytes(ll.y, lr.y, low),
                     select_bytes(ul.y, ur.y, high), select_bytes(ll.y, lr.y, high));
}

struct ValueSpan {
  std::uint32_t least, greatest;

  __device__ void add(std::uint32_t value) {
    least = min(least, value);
    greatest = max(greatest, value);
  }
};
constexpr std::uint32_t kNoValue = ~0u;

__device__ void extend(ValueSpan* shared, ValueSpan own) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    own.least = min(own.least, __shfl_xor_sync(~0u, own.least, distance));
    own.greatest = max(own.greatest, __shfl_xor_sync(~0u, own.greatest, distance));
  }
  if (threadIdx.x % 32 == 0) {
    atomicMin(&shared->least, own.least);
    atomicMax(&shared->greatest, own.greatest);
  }
}

template <class Pack>
__device__ void set_level(std::uint32_t* data, int pixel, std::uint32_t value, std::uint32_t level,
                          const Arguments& a) {
  const int result =
      histequalize::blended(static_cast<int>(value), static_cast<int>(level), a.blend);
  Pack::set(data, pixel, static_cast<std::uint32_t>(result), a.picture);
}

/// Pixels of a pack that belong to the next cell read their entries from device memory.
template <class Pack>
__global__ void __launch_bounds__(kRangesThreads, 1)
    apply_ranges_kernel(const __grid_constant__ Arguments a) {
  extern __shared__ uint4 shared_words[];
  uint2* quads = reinterpret_cast<uint2*>(shared_words);
  const BlockPatch patch(a, Pack::pixels, a.picture.per_row);
  launch_dependents();
  grid_dependency_wait();
  if (patch.empty())
    return;
  const Spread spread(patch.columns);
  PackCursor<Rows::ragged> at(a.picture, 0);
  at.x = patch.first + spread.column;
  const int x = at.x * Pack::pixels;
  const int existing = pixels_in<Pack, Rows::ragged>(a.picture, at);
  const int own = min(patch.cell_end - x, existing);
  const int end = spread.idle() ? 0 : patch.end;
  const CellTables tables(a, 0, patch.cell_x, patch.cell_y);
  __shared__ ValueSpan span;
  if (threadIdx.x == 0)
    span = {kNoValue, 0};
  __syncthreads();

  constexpr int packs_of_word = 32 / Pack::pixels;
  std::uint32_t data[kHeldPacks][Pack::words];
  // One bit per pixel, set until the pixel has its level.
  std::uint32_t pending[(kHeldPacks + packs_of_word - 1) / packs_of_word] = {};
#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k) {
    at.y = patch.begin + spread.row + k * spread.rows;
    if (at.y < end) {
      Pack::template load<Rows::ragged>(a.picture, at, data[k]);
      pending[k / packs_of_word] |= ((1u << max(own, 0)) - 1) << k % packs_of_word * Pack::pixels;
    }
  }
  ValueSpan values{kNoValue, 0};
#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k)
#pragma unroll
    for (int i = 0; i < Pack::pixels; ++i)
      if ((pending[k / packs_of_word] >> (k % packs_of_word * Pack::pixels + i) & 1) != 0)
        values.add(Pack::value(data[k], i, a.picture));
  extend(&span, values);
  __syncthreads();

  const std::uint32_t vector_start = span.least & ~3u;  // aligned to four entries, for vector loads
  const int last = span.least == kNoValue ? -1 : static_cast<int>(span.greatest);
  for (int base = static_cast<int>(vector_start); base <= last; base += a.range_bins) {
    __syncthreads();
    const int used = min(a.range_bins, last + 1 - base);
#pragma unroll 4
    for (int i = 4 * threadIdx.x; i < used; i += 4 * kRangesThreads)
      store_quads(quads + i, tables, base + i);
    __syncthreads();
    // Makes the compiler recompute the weights of the pixels instead of holding them in registers.
    int column = x, row = patch.begin + spread.row;
    asm volatile("" : "+r"(column), "+r"(row));
#pragma unroll
    for (int k = 0; k < kHeldPacks; ++k) {
      const float lower = a.tiling.y.weight_in_cell(row + k * spread.rows, patch.cell_y);
#pragma unroll
      for (int i = 0; i < Pack::pixels; ++i) {
        const std::uint32_t value = Pack::value(data[k], i, a.picture);
        const std::uint32_t in_range = value - base;
        const std::uint32_t bit = 1u << (k % packs_of_word * Pack::pixels + i);
        if ((pending[k / packs_of_word] & bit) != 0 &&
            in_range < static_cast<std::uint32_t>(a.range_bins)) {
          pending[k / packs_of_word] &= ~bit;
          const std::uint32_t level =
              level_between(levels_of(quads[in_range]),
                            a.tiling.x.weight_in_cell(column + i, patch.cell_x), lower);
          set_level<Pack>(data[k], i, value, level, a);
        }
      }
    }
  }

#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k) {
    at.y = patch.begin + spread.row + k * spread.rows;
    if (at.y >= end)
      break;
    if (own < existing) {
      const CellTables next(a, 0, patch.cell_x + 1, patch.cell_y);
      const float lower = a.tiling.y.weight_in_cell(at.y, patch.cell_y);
#pragma unroll
      for (int i = 0; i < Pack::pixels; ++i)
        if (i >= own && i < existing) {
          const std::uint32_t value = Pack::value(data[k], i, a.picture);
          const std::uint32_t level = level_between(
              next.levels(value), a.tiling.x.weight_in_cell(x + i, patch.cell_x + 1), lower);
          set_level<Pack>(data[k], i, value, level, a);
        }
    }
    Pack::template store<Rows::ragged>(a.picture, at, data[k]);
  }
}

}  // namespace
}  // namespace cudavision::clahe
