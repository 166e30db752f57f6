// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Counts the tiles. Several blocks count a tile, each some of its rows. Up to 12 bits, a block
// counts in shared memory, where additions of one are merged over a warp, so that flat pictures
// take no longer than others. The counters of more bits do not fit there, so each thread adds to
// those of the tile, and adds a run of equal values at once.

#include "cuda/clahe/arguments.cuh"
#include "cuda/sync/interblock.cuh"

namespace cudavision::clahe {
namespace {

/// Counts pixels in shared memory.
template <class Pack, Action kAction>
struct SharedCounter {
  static constexpr bool in_shared_memory = true;
  std::uint32_t* counts;  // 2^bits for each grid

  __device__ void add(const std::uint32_t* data, int pixel, const Arguments& a) {
    if constexpr (kAction == Action::each) {
      const std::uint32_t bytes = Pack::pixel(data, pixel);
#pragma unroll
      for (int b = 0; b < Pack::bytes; ++b)
        if (byte_of(a.picture.keep, b) == 0)
          atomicAdd(counts + (a.picture.table_of[b] << 8) + byte_of(bytes, b), 1u);
    } else if constexpr (kAction == Action::shift) {
      atomicAdd(counts + packed_luminance(Pack::pixel(data, pixel), a.picture), 1u);
    } else {
      atomicAdd(counts + Pack::value(data, pixel, a.picture), 1u);
    }
  }
  /// Takes back pixels of value 0.
  __device__ void remove_zeros(std::uint32_t count) {
#pragma unroll
    for (int grid = 0; grid < grids_of<kAction>; ++grid)
      atomicSub(counts + (grid << 8), count);
  }
  __device__ void finish() {}
};

/// Counts pixels of words in device memory.
template <class Pack>
struct DeviceCounter {
  static constexpr bool in_shared_memory = false;
  std::uint32_t* counts;
  std::uint32_t value = 0;  // of the last pixels
  std::uint32_t count = 0;  // of these

  __device__ void add(const std::uint32_t* data, int pixel, const Arguments& a) {
    const std::uint32_t next = Pack::value(data, pixel, a.picture);
    if (next != value) {
      finish();
      value = next;
      count = 0;
    }
    ++count;
  }
  __device__ void remove_zeros(std::uint32_t removed) { DeviceAtomics::add(counts, 0 - removed); }
  __device__ void finish() {
    if (count != 0)
      DeviceAtomics::add(counts + value, count);
  }
};

template <class Pack>
__device__ void set_all_bits(std::uint32_t* data, int pixel, const PackedImage& picture) {
  if constexpr (Pack::colour)
    Pack::set(data, pixel, ~0u);
  else
    Pack::set(data, pixel, ~0u, picture);
}

/// Counts the pixels of a rectangle of the picture.
template <class Pack, class Counter>
__device__ void count_rectangle(const Arguments& a, const Run& columns, const Run& rows,
                                Counter& counter) {
  constexpr int batch = Pack::words == 4 ? 4 : 2;
  const int first = columns.first / Pack::pixels;
  const int last = (columns.first + columns.count - 1) / Pack::pixels;
  const int at_once = columns_at_once(last - first + 1);
  const Spread spread(at_once);
  if (spread.idle())
    return;
  const int row_end = rows.first + rows.count;
  PackCursor<Rows::ragged> at(a.picture, 0);
  for (int pack = first + spread.column; pack <= last; pack += at_once) {
    at.x = pack;
    // Pixels of a pack that are not in the rectangle are counted as zeros and then taken back.
    std::uint32_t inside[Pack::words] = {};
    std::uint32_t outside = 0;
#pragma unroll
    for (int i = 0; i < Pack::pixels; ++i)
      if (pack * Pack::pixels + i >= columns.first &&
          pack * Pack::pixels + i < columns.first + columns.count)
        set_all_bits<Pack>(inside, i, a.picture);
      else
        ++outside;
    std::uint32_t taken_back = 0;
    for (int y = rows.first + spread.row; y < row_end; y += batch * spread.rows) {
      std::uint32_t data[batch][Pack::words];
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        at.y = y + k * spread.rows;
        if (at.y < row_end)
          Pack::template load<Rows::ragged>(a.picture, at, data[k]);
      }
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (y + k * spread.rows < row_end) {
#pragma unroll
          for (int w = 0; w < Pack::words; ++w)
            data[k][w] &= inside[w];
#pragma unroll
          for (int i = 0; i < Pack::pixels; ++i)
            counter.add(data[k], i, a);
          taken_back += outside;
        }
    }
    if (taken_back != 0)
      counter.remove_zeros(taken_back);
  }
}

template <class Pack, Action kAction, class Counter>
__global__ void __launch_bounds__(kThreads, 2) count_kernel(const __grid_constant__ Arguments a) {
  extern __shared__ uint4 shared_words[];
  const int tile = blockIdx.x / a.counting_parts;
  const int part = blockIdx.x % a.counting_parts;
  const int top = tile / a.tiling.x.tiles * a.tiling.y.tile_size;
  const int left = tile % a.tiling.x.tiles * a.tiling.x.tile_size;
  const int right = left + a.tiling.x.tile_size;
  const RowRange range(top, top + a.tiling.y.tile_size, part, a.counting_parts);

  Counter counter{};
  const int words = Counter::in_shared_memory ? grids_of<kAction> << a.bits : 0;
  if constexpr (Counter::in_shared_memory) {
    counter.counts = reinterpret_cast<std::uint32_t*>(shared_words);
    for (int i = threadIdx.x; i < words / 4; i += kThreads)
      shared_words[i] = make_uint4(0, 0, 0, 0);
  } else {
    counter.counts = a.counts_of(0, tile);
  }
  __syncthreads();
  grid_dependency_wait();
  launch_dependents();

  // Beyond the picture's edges, the tile consists of reflected rectangles.
  for (int y = range.begin; y < range.end;) {
    const Run rows = reflected_run(y, range.end, a.tiling.y.size);
    for (int x = left; x < right;) {
      const Run columns = reflected_run(x, right, a.tiling.x.size);
      count_rectangle<Pack>(a, columns, rows, counter);
      x += columns.count;
    }
    y += rows.count;
  }
  counter.finish();

  if constexpr (Counter::in_shared_memory) {
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += kThreads) {
      // The blocks of a tile begin at different bins, because additions to the same word wait for
      // each other.
      const int bin = (i + 32 * part) & (a.bins() - 1);
      const int grid = i >> a.bits;
      const std::uint32_t count = counter.counts[(grid << a.bits) + bin];
      if (count != 0)
        DeviceAtomics::add(a.counts_of(grid, tile) + bin, count);
    }
  }
}

}  // namespace
}  // namespace cudavision::clahe
