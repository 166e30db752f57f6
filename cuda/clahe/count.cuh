// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Counts the histograms of tiles, for samples of up to 12 bits. A block counts some rows of a tile
// in shared memory. With make_tables, the last block of a tile makes its tables.

#include "cuda/clahe/arguments.cuh"
#include "cuda/clahe/count_shape.h"
#include "cuda/clahe/table.cuh"
#include "cuda/sync/interblock.cuh"
#include "cuda/sync/tableexchange.h"

namespace cudavision::clahe {
namespace {

/// Packs per thread whose loads are in flight together.
template <class Pack>
constexpr int count_batch = is_bytes<Pack>                                               ? 2
                            : Pack::words == 4 && !(is_words<Pack> && Pack::pixels == 4) ? 4
                                                                                         : 2;

template <class Pack, Action kAction>
struct Counter {
  std::uint32_t* counts;  // 2^bits per grid

  __device__ void add(const std::uint32_t* data, int pixel, const Arguments& a) const {
    if constexpr (is_bytes<Pack>)
      atomicAdd(element_of_byte(data[pixel / 4], pixel % 4, shared_address(counts)), 1u);
    else
      histequalize::count_pixel<Pack, kAction>(data, pixel, a.picture, counts);
  }
  /// Subtracts `count` pixels of value 0.
  __device__ void remove_zeros(std::uint32_t count) const {
#pragma unroll
    for (int grid = 0; grid < grids_of<kAction>; ++grid)
      atomicSub(counts + (grid << 8), count);
  }
};

/// Clears the pixels of a pack before pixel `begin` and from pixel `end` on.
template <class Pack>
__device__ void keep_pixels(std::uint32_t* data, int begin, int end, const PackedImage& picture) {
  if constexpr (is_bytes<Pack>) {
#pragma unroll
    for (int w = 0; w < Pack::words; ++w)
      data[w] &= bytes_before(end - 4 * w) & ~bytes_before(begin - 4 * w);
    return;
  }
  std::uint32_t inside[Pack::words] = {};
#pragma unroll
  for (int i = 0; i < Pack::pixels; ++i) {
    if (i < begin || i >= end)
      continue;
    if constexpr (Pack::colour)
      Pack::set(inside, i, ~0u);
    else
      Pack::set(inside, i, ~0u, picture);
  }
#pragma unroll
  for (int w = 0; w < Pack::words; ++w)
    data[w] &= inside[w];
}

/// Position of a thread's pack in a rectangle. The block's threads take packs in row-major order.
struct RectangleCursor {
  int x, y;

  __device__ void advance(int rest, int rows, int per_row) {
    x += rest;
    y += rows;
    if (x >= per_row) {
      x -= per_row;
      ++y;
    }
  }
};

template <class Pack, class Counter>
__device__ void count_rectangle(const Arguments& a, const Run& columns, const Run& rows,
                                const Counter& counter) {
  constexpr int batch = count_batch<Pack>;
  const int first = columns.first / Pack::pixels;
  const int per_row = (columns.first + columns.count - 1) / Pack::pixels - first + 1;
  const ThreadDivision by_row(per_row);
  const int step = by_row.quotient(blockDim.x);
  const int rest = static_cast<int>(blockDim.x) - step * per_row;
  const int row = by_row.quotient(threadIdx.x);
  RectangleCursor at{static_cast<int>(threadIdx.x) - row * per_row, row};
  PackCursor<Rows::ragged> place(a.picture, 0);
  std::uint32_t taken_back = 0;
  while (at.y < rows.count) {
    std::uint32_t data[batch][Pack::words];
    RectangleCursor ahead = at;
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      place.x = first + ahead.x;
      place.y = rows.first + ahead.y;
      if (ahead.y < rows.count)
        Pack::template load<Rows::ragged>(a.picture, place, data[k]);
      ahead.advance(rest, step, per_row);
    }
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      if (at.y < rows.count) {
        // Pixels outside the rectangle are counted as zeros, which remove_zeros() subtracts again.
        const int begin = columns.first - (first + at.x) * Pack::pixels;
        const int end = begin + columns.count;
        if (begin > 0 || end < Pack::pixels) {
          keep_pixels<Pack>(data[k], begin, end, a.picture);
          taken_back += Pack::pixels - (min(end, Pack::pixels) - max(begin, 0));
        }
#pragma unroll
        for (int i = 0; i < Pack::pixels; ++i)
          counter.add(data[k], i, a);
      }
      at.advance(rest, step, per_row);
    }
  }
  if (taken_back != 0)
    counter.remove_zeros(taken_back);
}

/// Counts some rows of a tile. Beyond the picture, a tile consists of reflected rectangles.
template <class Pack, class Counter>
__device__ void count_rows(const Arguments& a, int tile, const RowRange& rows_of_tile,
                           const Counter& counter) {
  const Share place(static_cast<std::uint32_t>(tile), a.tiles_x);
  const int top = place.whole * a.tiling.y.tile_size;
  const int left = place.part * a.tiling.x.tile_size;
  const int right = left + a.tiling.x.tile_size;
  const int end = top + rows_of_tile.end;
  for (int y = top + rows_of_tile.begin; y < end;) {
    const Run rows = reflected_run(y, end, a.tiling.y.size);
    for (int x = left; x < right;) {
      const Run columns = reflected_run(x, right, a.tiling.x.size);
      count_rectangle<Pack>(a, columns, rows, counter);
      x += columns.count;
    }
    y += rows.count;
  }
}

// Not unrolled, because the number of iterations depends on the block's size, which varies.
__device__ void clear_words(uint4* words, int count) {
#pragma unroll 1
  for (int i = threadIdx.x; i < count; i += static_cast<int>(blockDim.x))
    words[i] = make_uint4(0, 0, 0, 0);
}

template <Action kAction>
__device__ int counter_vectors(const Arguments& a) {
  return grids_of<kAction> << a.bits >> 2;
}

/// Waits for all blocks of a tile, then moves the counts to the shared counters.
template <Action kAction>
__device__ void take_counts(const Arguments& a, int tile, uint4* counters) {
  __shared__ unsigned long long sum;
  const int vectors = counter_vectors<kAction>(a);
  const unsigned long long complete =
      static_cast<unsigned long long>(a.tiling.area()) * grids_of<kAction>;
  const auto in_device_memory = [&](int i) {
    return a.counts_of(4 * i >> a.bits, tile) + (4 * i & (a.bins() - 1));
  };
  do {
    delay_for_test();
    __syncthreads();
    if (threadIdx.x == 0)
      sum = 0;
    __syncthreads();
    unsigned long long own = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < vectors; i += static_cast<int>(blockDim.x)) {
      std::uint32_t four[4];
      DeviceAtomics::load4(in_device_memory(i), four);
      counters[i] = make_uint4(four[0], four[1], four[2], four[3]);
      own += sum_of(counters[i]);
    }
    own = sum_of_warp(own);
    if (threadIdx.x % 32 == 0 && own != 0)
      atomicAdd(&sum, own);
    __syncthreads();
  } while (sum != complete);
#pragma unroll 1
  for (int i = threadIdx.x; i < vectors; i += static_cast<int>(blockDim.x))
    *reinterpret_cast<uint4*>(in_device_memory(i)) = make_uint4(0, 0, 0, 0);
}

/// Counts a part of a tile with the shared counters, which must be zero before. Adds the counts to
/// device memory, unless this block makes the tables from them alone. With make_tables, the last
/// block of a tile makes the tables. All threads must call this.
template <class Pack, Action kAction>
__device__ void count_and_make_tables(const Arguments& a, int tile, int part, uint4* counters) {
  __shared__ bool last;
  std::uint32_t* counts = reinterpret_cast<std::uint32_t*>(counters);
  const RowRange rows(0, a.tiling.y.tile_size, part, a.counting_parts);
  count_rows<Pack>(a, tile, rows, Counter<Pack, kAction>{counts});
  __syncthreads();

  if (a.counting_parts.divisor > 1 || !a.make_tables) {
    const int words = grids_of<kAction> << a.bits;
#pragma unroll 1
    for (int i = threadIdx.x; i < words; i += static_cast<int>(blockDim.x)) {
      // Blocks begin at different bins, because atomic additions to the same word are serialised.
      const int bin = (i + 32 * part) & (a.bins() - 1);
      const int grid = i >> a.bits;
      const std::uint32_t count = counts[(grid << a.bits) + bin];
      if (count != 0)
        DeviceAtomics::add(a.counts_of(grid, tile) + bin, count);
    }
    if (!a.make_tables)
      return;
    delay_for_test();
    __syncthreads();
    if (threadIdx.x == 0)
      last = arrive_last<DeviceAtomics>(a.arrivals + tile, a.counting_parts.divisor);
    __syncthreads();
    if (!last)
      return;
    take_counts<kAction>(a, tile, counters);
    __syncthreads();
  }
#pragma unroll
  for (int grid = 0; grid < grids_of<kAction>; ++grid) {
    if (grid > 0)
      __syncthreads();
    make_table(
        a, grid * a.tiling.tiles() + tile, {a.clip_count, a.scale, false},
        [&](int i) { return counters[(grid << a.bits >> 2) + i]; }, [](int) {});
  }
}

/// The first blocks count; the remaining blocks copy the unchanged planes.
template <class Pack, Action kAction>
__global__ void __launch_bounds__(kCountThreads, 2)
    count_kernel(const __grid_constant__ Arguments a) {
  extern __shared__ uint4 shared_words[];
  clear_words(shared_words, counter_vectors<kAction>(a));
  __syncthreads();
  grid_dependency_wait();
  // Must follow the wait: the next launch may read the picture before it waits for this launch.
  launch_dependents();
  const Share share(blockIdx.x, a.counting_parts);
  if (share.whole < a.tiling.tiles()) {
    count_and_make_tables<Pack, kAction>(a, share.whole, share.part, shared_words);
  } else {
    const int counting = a.tiling.tiles() * static_cast<int>(a.counting_parts.divisor);
    copy_planes(a, blockIdx.x - counting, gridDim.x - counting);
  }
}

}  // namespace
}  // namespace cudavision::clahe
