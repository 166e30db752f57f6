// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel of sums and squared sums: one launch reads the picture once and writes the table once.
//
// A block takes tiles of 128 columns. Each of its warps holds a few rows of the tile in registers,
// four pixels per lane; what lies above and to the left comes from the other tiles by TileExchange.
// An entry is the sum of five parts: the pixels above and left of the tile, those above it, those
// to its left, those of the tile above the warp's rows, and those of the warp's own rows.

#include "cuda_launch.h"
#include "integral_arithmetic.h"
#include "integral_tile.h"
#include "interblock.cuh"
#include "tileexchange.h"

namespace cudavision {

constexpr int tile_columns = 32 * quad_pixels;
constexpr int tile_warps = 8;
constexpr int tile_threads = 32 * tile_warps;

struct IntegralArguments {
  const std::uint8_t* in;
  std::int64_t in_pitch;
  int width, height;
  int shift;              // of samples of 16 bits
  std::uint32_t largest;  // of samples of 16 bits
  bool aligned;           // rows begin where whole quads can be loaded

  std::uint8_t* table;
  std::int64_t table_pitch;
  int padding;  // 1: the table begins with a row and a column of zeros

  TileGrid grid;
  void* words;           // of the exchange
  std::uint32_t* state;  // of the launch tag
};

namespace {

template <class Sum>
__device__ Sum sum_of_warp(Sum sum) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  return sum;
}

/// The sum of the lanes before this one, and of all.
template <class Sum>
__device__ Sum sum_before(Sum own, int lane, Sum* all) {
  Sum sum = own;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const Sum other = __shfl_up_sync(~0u, sum, distance);
    if (lane >= distance)
      sum += other;
  }
  *all = __shfl_sync(~0u, sum, 31);
  return sum - own;
}

/// Pixels x to x + 3 of row y; those beyond the picture are 0.
template <class Quad, class Value>
__device__ Quad load_quad(const IntegralArguments& a, int x, int y) {
  Quad quad{};
  if (y >= a.height || x >= a.width)
    return quad;
  const std::uint8_t* from = a.in + a.in_pitch * y + sizeof(Value) * x;
  if (a.aligned && x + quad_pixels <= a.width) {
    std::uint32_t words[2];
    words[0] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
    if constexpr (sizeof(Value) == 2)
      words[1] = __ldg(reinterpret_cast<const std::uint32_t*>(from) + 1);
    return Quad::of_words(words, a.shift, a.largest);
  }
#pragma unroll
  for (int i = 0; i < quad_pixels; ++i) {
    if (x + i >= a.width)
      break;
    std::uint32_t stored = from[sizeof(Value) * i];
    if constexpr (sizeof(Value) == 2)
      stored |= static_cast<std::uint32_t>(from[2 * i + 1]) << 8;
    quad.set(i, stored, a.shift, a.largest);
  }
  return quad;
}

/// What one lane has of a row, in one piece.
template <class Number>
struct alignas(16) FourOf {
  Number numbers[quad_pixels];
};

/// What the warps of a block tell each other about a tile. Tile: sums within it; Sum: of the table.
template <class Tile, class Sum, class Element, int kTileRows>
struct SharedTile {
  static constexpr int row_shares = tile_threads / kTileRows;

  /// By warp: the columns' sums, each up to and including its own; then those of the warps above.
  FourOf<Tile> columns[tile_warps][32];
  FourOf<Sum> above[tile_warps]
                   [32];  // shares of the picture above, from the tile's first column on
  FourOf<Element> line[2][tile_warps][32];  // of entries, on their way from quads to rows
  Sum left[row_shares][kTileRows];          // shares of the picture to the left of each row
  Sum left_of[kTileRows];                   // the sums of these
  Sum corners[tile_warps];
};

/// Blocks that share a multiprocessor: as many as leave each lane the registers that it needs for
/// its pixels, what lies before them, and sums of 32 or 64 bits.
template <class Value, class Tile, class Sum, int kRows>
constexpr int blocks_at_once() {
  if (sizeof(Value) == 2)
    return sizeof(Sum) == 4 && sizeof(Tile) == 4 && kRows <= 4 ? 3 : 2;
  return kRows <= 4 ? 4 : sizeof(Sum) == 4 ? 3 : 2;
}

template <class Value, bool kSquared, class Element, int kRows>
__global__ void __launch_bounds__(
    tile_threads,
    blocks_at_once<Value, typename Quad<Value, kSquared>::Sum, SumOf<Element>, kRows>())
    integral_kernel(const __grid_constant__ IntegralArguments a) {
  using Pixels = Quad<Value, kSquared>;
  using Tile = typename Pixels::Sum;
  using Sum = SumOf<Element>;
  constexpr int tile_rows = kRows * tile_warps;
  __shared__ SharedTile<Tile, Sum, Element, tile_rows> shared;

  let_next_launch_in();
  wait_for_last_launch();
  const LaunchTag<DeviceAtomics> launch(a.state);
  const TileExchange<RelaxedAtomics<Tile>> exchange(a.grid, static_cast<Tile*>(a.words),
                                                    launch.now());
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;

  for (int tile = blockIdx.x; tile < a.grid.count(); tile += gridDim.x) {
    const int tile_row = tile / a.grid.columns;
    const int tile_column = tile % a.grid.columns;
    const int x = tile_column * tile_columns + lane * quad_pixels;
    const int y = tile_row * tile_rows + warp * kRows;

    Pixels pixels[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      pixels[r] = load_quad<Pixels, Value>(a, x, y + r);

    // The warp's rows: each lane's pixels begin with what the lanes before it hold.
    Tile before[kRows];
    FourOf<Tile> columns{};
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Tile row;
      before[r] = sum_before(pixels[r].sum_to(quad_pixels - 1, 0), lane, &row);
      delay_for_test();
      if (lane == 0)
        exchange.say_row(tile_row, tile_column, warp * kRows + r, row);
#pragma unroll
      for (int i = 0; i < quad_pixels; ++i)
        columns.numbers[i] += pixels[r].sum_to(i, before[r]);
    }
    shared.columns[warp][lane] = columns;
    __syncthreads();

    const int thread = threadIdx.x;
    if (thread < tile_columns) {
      Tile sum = 0;
#pragma unroll
      for (int w = 0; w < tile_warps; ++w) {
        Tile& own = shared.columns[w][thread / quad_pixels].numbers[thread % quad_pixels];
        const Tile with_own = sum + own;
        own = sum;
        sum = with_own;
      }
      delay_for_test();
      exchange.say_columns(tile_row, tile_column, thread, sum);
    }

    // All threads ask at once, so that what the other tiles say arrives at once.
    FourOf<Sum> above{};
    exchange.columns_above(tile_row, tile_column, lane * quad_pixels, warp, tile_warps,
                           above.numbers);
    shared.above[warp][lane] = above;
    delay_for_test();
    shared.left[thread / tile_rows][thread % tile_rows] = exchange.template row_left<Sum>(
        tile_row, tile_column, thread % tile_rows, thread / tile_rows, shared.row_shares);
    const Sum corner =
        sum_of_warp(exchange.template corner<Sum>(tile_row, tile_column, thread, tile_threads));
    if (lane == 0)
      shared.corners[warp] = corner;
    __syncthreads();

    Sum base = 0;  // of the warp's first row: what lies above it to the left of the tile
    for (int row = lane; row < (warp + 1) * kRows; row += 32) {
      Sum left = 0;
#pragma unroll
      for (int share = 0; share < shared.row_shares; ++share)
        left += shared.left[share][row];
      if (row < warp * kRows)
        base += left;
      else
        shared.left_of[row] = left;
    }
    base = sum_of_warp(base);
#pragma unroll
    for (int w = 0; w < tile_warps; ++w)
      base += shared.corners[w];

    FourOf<Sum> entries = shared.above[0][lane];
    columns = shared.columns[warp][lane];
#pragma unroll
    for (int w = 1; w < tile_warps; ++w) {
      above = shared.above[w][lane];
#pragma unroll
      for (int i = 0; i < quad_pixels; ++i)
        entries.numbers[i] += above.numbers[i];
    }
#pragma unroll
    for (int i = 0; i < quad_pixels; ++i)
      entries.numbers[i] += base + static_cast<Sum>(columns.numbers[i]);
    __syncwarp();

    const int entries_in_row = min(a.width - tile_column * tile_columns, tile_columns);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (y + r >= a.height)
        break;
      // The quads of a row become whole rows of the table by way of shared memory: there its
      // entries lie in one piece whatever the table's alignment.
      FourOf<Element>* line = shared.line[r % 2][warp];
      const Sum left = shared.left_of[warp * kRows + r];
      FourOf<Element> four;
#pragma unroll
      for (int i = 0; i < quad_pixels; ++i) {
        entries.numbers[i] += left + static_cast<Sum>(pixels[r].sum_to(i, before[r]));
        four.numbers[i] = table_element<Element>(entries.numbers[i]);
      }
      line[lane] = four;
      __syncwarp();
      auto* row = reinterpret_cast<Element*>(a.table + a.table_pitch * (y + r + a.padding)) +
                  tile_column * tile_columns + a.padding;
#pragma unroll
      for (int i = 0; i < quad_pixels; ++i)
        if (32 * i + lane < entries_in_row)
          row[32 * i + lane] = line[8 * i + lane / quad_pixels].numbers[lane % quad_pixels];
      if (a.padding && tile_column == 0 && lane == 0)
        row[-1] = 0;
    }
    if (a.padding && tile_row == 0 && warp == 0) {
      auto* row = reinterpret_cast<Element*>(a.table) + tile_column * tile_columns;
      for (int i = lane; i <= entries_in_row; i += 32)
        row[i] = 0;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    launch.leave(gridDim.x);
}

}  // namespace
}  // namespace cudavision
