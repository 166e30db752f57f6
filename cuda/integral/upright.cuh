// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel of sums and squared sums: one launch reads the picture once and writes the table once.
//
// A block processes tiles of 128 or 256 columns. Each of its warps holds a few rows of the tile in
// registers (warp_rows.cuh). TileExchange provides the sums above and to the left of the tile. An
// entry is the sum over five areas: above and to the left of the tile, above the tile, to the left
// of the tile, in the tile above the warp's rows, and in the warp's rows.
//
// A block takes its next tile from a counter. Every earlier tile is then finished or in progress,
// so waiting for other tiles cannot deadlock.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/warp.cuh"
#include "cuda/integral/arithmetic.h"
#include "cuda/integral/warp_rows.cuh"
#include "cuda/sync/interblock.cuh"
#include "cuda/sync/tileexchange.h"

namespace cudavision::integral {

struct IntegralArguments {
  InputArguments in;

  std::uint8_t* table;
  std::int64_t table_pitch;
  int padding;  // 1: the table begins with a row and a column of zeros

  TileGrid grid;
  void* words;           // words of the TileExchange
  std::uint32_t* state;  // state of the LaunchEpoch
};

namespace {

template <int kRowsOfWarp, int kQuadsOfLane, int kWarpsOfBlock, int kBatch>
struct TileShape {
  static constexpr int rows_of_warp = kRowsOfWarp;
  static constexpr int quads = kQuadsOfLane;
  static constexpr int warps = kWarpsOfBlock;
  static constexpr int batch = kBatch;  // words of other tiles whose loads are in flight
  static constexpr int threads = 32 * warps;
  static constexpr int columns = 32 * quads * quad_pixels;
  static constexpr int rows = rows_of_warp * warps;

  // Warps share the lookups of other tiles' sums. One lookup covers 32 columns above the tile, 32
  // rows to the left of the tile, or a share of the area above and to the left.
  static constexpr int lookups_for_columns = columns / 32;
  static constexpr int lookups_for_rows = (rows + 31) / 32;
  static constexpr int lookups_for_corner = warps > lookups_for_columns + lookups_for_rows
                                                ? warps - lookups_for_columns - lookups_for_rows
                                                : 4;
  static constexpr int lookups = lookups_for_columns + lookups_for_rows + lookups_for_corner;
};

/// Shared memory through which the warps of a block exchange sums. Tile is the type of sums within
/// a tile, Sum the type of the table's sums.
template <class Tile, class Sum, class Element, class Shape>
struct SharedTile {
  // With two lines, a warp can write one line while it reads the other. Two large lines do not fit.
  static constexpr int lines = Shape::columns * Shape::warps * sizeof(Element) > 8192 ? 1 : 2;

  TileLine<Tile, Shape::quads> columns[Shape::warps];  // sums of a warp's rows up to each column
  Sum left[Shape::rows];                               // sum of each row to the left of the tile
  Sum corners[Shape::lookups_for_corner];  // partial sums above and to the left of the tile
  int next_tile;
  union {
    // First, the sums above the warp's rows, from the tile's first column to each column.
    TileLine<Sum, Shape::quads> above;
    // Then the entries of a row, which are transposed from quads to adjacent entries.
    TileLine<Element, Shape::quads> line[lines];
  } of_warp[Shape::warps];
};

struct TilePosition {
  int row, column;

  __device__ TilePosition(const TileGrid& grid, int tile)
      : row(tile / grid.columns), column(tile % grid.columns) {}
};

/// Minimum number of blocks per multiprocessor: `wanted`, or one less where registers would spill,
/// as in some kernels on compute capability 12, one on 7.5, and one from 9.0 on before CUDA 13.
template <class Value, bool kSquared, class Element, class Shape>
constexpr int blocks_without_spills(int wanted) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
  if (Shape::rows_of_warp == 8 && (kSquared ? sizeof(Value) == 2 : wanted == 4))
    return wanted - 1;
#elif defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ < 800 || (__CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ < 13))
  if (Shape::quads == 2 && wanted == 3 && std::is_same_v<Element, std::uint64_t>)
    return wanted - 1;
#endif
  return wanted;
}

/// True if a warp stores whole cache lines, wherever a row begins. With two quads per lane, this
/// saved 0.3 of 15.3 µs on an H200; with one quad, it took 0.3 µs longer.
template <class Element, class Shape>
constexpr bool stores_whole_lines = sizeof(Element) == 4 && Shape::quads > 1;

/// True if a warp waits only once for a tile's pixels and the epoch, which needs more registers.
template <class Element>
constexpr bool reads_epoch_late = sizeof(Element) == 4;

template <class Value, bool kSquared, class Element, class Shape, int kBlocks>
__global__ void __launch_bounds__(Shape::threads,
                                  (blocks_without_spills<Value, kSquared, Element, Shape>(kBlocks)))
    integral_kernel(const __grid_constant__ IntegralArguments a) {
  constexpr int kRows = Shape::rows_of_warp;
  constexpr int kQuads = Shape::quads;
  constexpr int kWarps = Shape::warps;
  using Rows = WarpRows<Value, kSquared, kRows, kQuads>;
  using Tile = typename Rows::Sum;
  using Sum = SumOf<Element>;
  __shared__ SharedTile<Tile, Sum, Element, Shape> shared;

  launch_dependents();
  grid_dependency_wait();
  const LaunchEpoch<DeviceAtomics> launch(a.state);
  using Exchange = TileExchange<RelaxedAtomics<Tile>>;
  const Exchange of_all_tiles(a.grid, static_cast<Tile*>(a.words),
                              reads_epoch_late<Element> ? 0 : launch.current());
  const int thread = threadIdx.x;
  const int warp = thread / 32;
  const int lane = thread % 32;
  const bool one_each = a.grid.count() <= static_cast<int>(gridDim.x);
  // Only in the last thread of the block: the ticket for the next tile or, if there are no more
  // tiles, the number of blocks that retired earlier.
  std::uint32_t drawn = 0;

  for (int number = blockIdx.x;;) {
    const TilePosition tile(a.grid, number);
    const int x = tile.column * Shape::columns;
    const int y = tile.row * Shape::rows + warp * kRows;
    Rows rows;
    rows.load(a.in, x, y, lane);
    const Exchange exchange = reads_epoch_late<Element>
                                  ? Exchange(a.grid, static_cast<Tile*>(a.words), launch.current())
                                  : of_all_tiles;
    rows.add_up(lane, [&](int r, Tile sum) {
      delay_for_test();
      exchange.publish_row(tile.row, tile.column, warp * kRows + r, sum);
    });
    FourOf<Tile> columns[kQuads]{};
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      rows.for_each(r, [&](int q, int i, Tile sum) { columns[q].numbers[i] += sum; });
#pragma unroll
    for (int q = 0; q < kQuads; ++q)
      shared.columns[warp].quad(lane, q) = columns[q];
    __syncthreads();

    // The block publishes all its sums first. Then all warps look up the sums of other tiles.
#pragma unroll
    for (int first = 0; first < Shape::columns; first += Shape::threads) {
      const int column = first + thread;
      if (Shape::columns % Shape::threads != 0 && column >= Shape::columns)
        break;
      Tile sum = 0;
#pragma unroll
      for (int w = 0; w < kWarps; ++w)
        sum += shared.columns[w].column(column);
      delay_for_test();
      exchange.publish_columns(tile.row, tile.column, column, sum);
      if (column == Shape::columns - 1)
        exchange.publish_tile(tile.row, tile.column, sum);
    }
#pragma unroll
    for (int lookup = warp; lookup < Shape::lookups; lookup += kWarps) {
      delay_for_test();
      if (lookup < Shape::lookups_for_columns) {
        const int column = lookup * 32 + lane;
        Sum above =
            exchange.template columns_above<Sum, Shape::batch>(tile.row, tile.column, column);
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
          shared.of_warp[w].above.column(column) = above;
          above += static_cast<Sum>(shared.columns[w].column(column));
        }
      } else if (lookup < Shape::lookups_for_columns + Shape::lookups_for_rows) {
        const int row = (lookup - Shape::lookups_for_columns) * 32 + lane;
        if (row < Shape::rows)
          shared.left[row] =
              exchange.template row_left<Sum, Shape::batch>(tile.row, tile.column, row);
      } else {
        const int share = lookup - Shape::lookups_for_columns - Shape::lookups_for_rows;
        const Sum corner = sum_of_warp(exchange.template corner<Sum, Shape::batch>(
            tile.row, tile.column, lane, 32, share, Shape::lookups_for_corner));
        if (lane == 0)
          shared.corners[share] = corner;
      }
    }
    __syncthreads();
    if (thread == Shape::threads - 1)
      drawn = one_each ? launch.retire() : launch.ticket();

    Sum base = 0;  // sum over all pixels above the warp's first row and to the left of the tile
    for (int row = lane; row < warp * kRows; row += 32)
      base += shared.left[row];
    base = sum_of_warp(base);
#pragma unroll
    for (int share = 0; share < Shape::lookups_for_corner; ++share)
      base += shared.corners[share];

    FourOf<Sum> entries[kQuads];
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      entries[q] = shared.of_warp[warp].above.quad(lane, q);
#pragma unroll
      for (int i = 0; i < quad_pixels; ++i)
        entries[q].numbers[i] += base;
    }
    __syncwarp();

    const int entries_in_row = min(a.in.width - x, Shape::columns);
    const int rows_inside = min(a.in.height - y, kRows);
    std::uint8_t* to =
        a.table + a.table_pitch * (y + a.padding) + sizeof(Element) * (x + a.padding);
    if (a.padding && tile.column == 0 && lane < rows_inside)
      reinterpret_cast<Element*>(to + a.table_pitch * lane)[-1] = 0;
    if (a.padding && tile.row == 0 && warp == 0)
      for (int i = lane; i <= entries_in_row; i += 32)
        (reinterpret_cast<Element*>(a.table) + x)[i] = 0;
    to += sizeof(Element) * lane;
    const auto entry_of = [&](int r, int column) {
      return &shared.of_warp[warp].line[r % decltype(shared)::lines].column(column);
    };
    // Computes row r. Shared memory transposes quads to rows, so that adjacent lanes store adjacent
    // entries for any alignment of the table. Returns the first entry of the lane.
    const auto next_row = [&](int r) -> const Element* {
      auto& line = shared.of_warp[warp].line[r % decltype(shared)::lines];
      if (decltype(shared)::lines == 1)
        __syncwarp();
      const Sum left = shared.left[warp * kRows + r];
      FourOf<Element> four[kQuads];
      rows.for_each(r, [&](int q, int i, Tile sum) {
        Sum& entry = entries[q].numbers[i];
        four[q].numbers[i] = table_element<Element>(entry += left + static_cast<Sum>(sum));
      });
#pragma unroll
      for (int q = 0; q < kQuads; ++q)
        line.quad(lane, q) = four[q];
      __syncwarp();
      return entry_of(r, lane);
    };
    constexpr int step = decltype(shared.of_warp[0].above)::step_of_32_columns;
    constexpr int stores = Shape::columns / 32;
    // Streaming stores, because the table is usually not read again soon.
    if (entries_in_row == Shape::columns && rows_inside == kRows) {
#pragma unroll
      for (int r = 0; r < kRows; ++r, to += a.table_pitch) {
        const Element* entry = next_row(r);
        if constexpr (stores_whole_lines<Element, Shape>) {
          // Entries between the start of the cache line and the row's first entry.
          const int skew = static_cast<int>(
              (reinterpret_cast<std::uintptr_t>(to) / sizeof(Element) - lane) % 32);
          Element* const first = reinterpret_cast<Element*>(to) - skew;
          entry = entry_of(r, lane - skew + 32) - step;
          if (lane >= skew)
            __stcs(first, entry[0]);
#pragma unroll
          for (int i = 1; i < stores; ++i)
            __stcs(first + 32 * i, entry[step * i]);
          if (lane < skew)
            __stcs(first + 32 * stores, entry[step * stores]);
        } else {
#pragma unroll
          for (int i = 0; i < stores; ++i)
            __stcs(reinterpret_cast<Element*>(to) + 32 * i, entry[step * i]);
        }
      }
    } else {
#pragma unroll
      for (int r = 0; r < kRows; ++r, to += a.table_pitch) {
        if (r >= rows_inside)
          break;
        const Element* entry = next_row(r);
#pragma unroll
        for (int i = 0; i < stores; ++i)
          if (32 * i + lane < entries_in_row)
            __stcs(reinterpret_cast<Element*>(to) + 32 * i, entry[step * i]);
      }
    }
    if (one_each)
      break;
    if (thread == Shape::threads - 1)
      shared.next_tile = static_cast<int>(gridDim.x + drawn);
    __syncthreads();
    number = shared.next_tile;
    if (number >= a.grid.count()) {
      if (thread == Shape::threads - 1)
        drawn = launch.retire();
      break;
    }
  }
  if (thread == Shape::threads - 1)
    launch.advance_if_last(drawn, gridDim.x);
}

}  // namespace
}  // namespace cudavision::integral
