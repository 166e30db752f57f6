// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel of sums and squared sums: one launch reads the picture once and writes the table once.
//
// A block takes tiles of 128 or 256 columns. Each of its warps holds a few rows of the tile in
// registers; what lies above and to the left comes from the other tiles by TileExchange. An entry
// is the sum of five parts: the pixels above and left of the tile, those above it, those to its
// left, those of the tile above the warp's rows, and those of the warp's own rows.
//
// Blocks draw their next tile when they come to it, so that all the tiles before it are under way.

#include "cuda/core/cuda_launch.h"
#include "cuda/integral/arithmetic.h"
#include "cuda/integral/tile.h"
#include "cuda/sync/interblock.cuh"
#include "cuda/sync/tileexchange.h"

namespace cudavision::integral {

struct IntegralArguments {
  const std::uint8_t* in;
  std::int64_t in_pitch;
  int width, height;
  int shift;              // of samples of 16 bits
  std::uint32_t largest;  // of samples of 16 bits
  bool aligned;           // rows begin where whole quads can be loaded

  std::uint8_t* table;
  std::int64_t table_pitch;
  int padding;         // 1: the table begins with a row and a column of zeros
  bool keep_in_cache;  // the table, for the next launch to read

  TileGrid grid;
  void* words;           // of the exchange
  std::uint32_t* state;  // of the LaunchEpoch
};

namespace {

template <class Sum>
__device__ Sum sum_of_warp(Sum sum) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  return sum;
}

/// Pixels x to x + 3 of row y; those beyond the picture are 0.
template <class Quad, class Value>
__device__ Quad load_quad_at_edge(const IntegralArguments& a, int x, int y) {
  Quad quad{};
  if (y >= a.height)
    return quad;
  const std::uint8_t* from = a.in + a.in_pitch * y + sizeof(Value) * x;
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

template <class Quad, class Value>
__device__ Quad load_quad(const IntegralArguments& a, const std::uint8_t* from) {
  std::uint32_t words[2];
  words[0] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
  if constexpr (sizeof(Value) == 2)
    words[1] = __ldg(reinterpret_cast<const std::uint32_t*>(from) + 1);
  return Quad::of_words(words, a.shift, a.largest);
}

/// Four neighbouring numbers of a row.
template <class Number>
struct alignas(16) FourOf {
  Number numbers[quad_pixels];
};

/// One row of numbers for each column of a tile, in shared memory. Lane l of a warp has kQuads
/// quads, from column 4·kQuads·l on. The first quads of all lanes lie in one piece, and the second
/// ones, so that lanes which access a quad each, or neighbouring columns, use different banks.
template <class Number, int kQuads>
class TileLine {
 public:
  __device__ FourOf<Number>& quad(int lane, int q) { return quads_[q * quads_apart + lane]; }
  __device__ Number& column(int i) {
    return quad(i / quad_pixels / kQuads, i / quad_pixels % kQuads).numbers[i % quad_pixels];
  }
  /// Of column(i + 32) beside column(i), in numbers.
  static constexpr int step_of_32_columns = 32 / kQuads;

 private:
  static constexpr int quads_apart = 32 + (kQuads > 1 ? 16 / static_cast<int>(sizeof(Number)) : 0);
  FourOf<Number> quads_[(kQuads - 1) * quads_apart + 32];
};

/// A warp's rows of a tile: of each, every lane has kQuads quads.
template <class Value, bool kSquared, int kRows, int kQuads>
class WarpRows {
 public:
  using Pixels = Quad<Value, kSquared>;
  using Sum = typename Pixels::Sum;
  static constexpr int columns = 32 * kQuads * quad_pixels;

  /// Columns from x, rows from y on.
  __device__ void load(const IntegralArguments& a, int x, int y, int lane) {
    const int lane_x = x + lane * kQuads * quad_pixels;
    if (a.aligned && x + columns <= a.width && y + kRows <= a.height) {
      const std::uint8_t* from = a.in + a.in_pitch * y + sizeof(Value) * lane_x;
#pragma unroll
      for (int r = 0; r < kRows; ++r, from += a.in_pitch)
#pragma unroll
        for (int q = 0; q < kQuads; ++q)
          pixels_[r][q] = load_quad<Pixels, Value>(a, from + sizeof(Value) * quad_pixels * q);
    } else {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int q = 0; q < kQuads; ++q)
          pixels_[r][q] = load_quad_at_edge<Pixels, Value>(a, lane_x + quad_pixels * q, y + r);
    }
  }

  /// Adds up each row. In the last lane, publish(r, sum) gets the sums of whole rows.
  template <class Publish>
  __device__ void add_up(int lane, const Publish& publish) {
    Sum own[words], upto[words];  // this lane, the lanes up to and including this one
#pragma unroll
    for (int w = 0; w < words; ++w) {
      own[w] = sum_of(w * rows_per_word);
      if constexpr (rows_per_word == 2)
        own[w] |= sum_of(w * rows_per_word + 1) << 16;
      upto[w] = own[w];
    }
    // All rows take a step together, so that none waits for the other lanes by itself.
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Sum mask = lane >= distance ? ~Sum{0} : Sum{0};
#pragma unroll
      for (int w = 0; w < words; ++w)
        upto[w] += __shfl_up_sync(~0u, upto[w], distance) & mask;
    }
#pragma unroll
    for (int w = 0; w < words; ++w)
      before_[w] = upto[w] - own[w];
    if (lane == 31) {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        publish(r, part(upto[r / rows_per_word], r % rows_per_word));
    }
  }

  /// Calls add(q, i, sum) for each pixel i of each quad q of the lane in row r: the sum of the row
  /// from the tile's first column to it.
  template <class Add>
  __device__ void for_each(int r, const Add& add) const {
    Sum before = part(before_[r / rows_per_word], r % rows_per_word);
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      Sum sum = 0;
#pragma unroll
      for (int i = 0; i < quad_pixels; ++i)
        add(q, i, sum = pixels_[r][q].sum_to(i, before));
      before = sum;
    }
  }

 private:
  // 256 bytes add up to less than 2^16, so that two rows go through the lanes in one word.
  static constexpr int rows_per_word = sizeof(Value) == 1 && !kSquared ? 2 : 1;
  static_assert(kRows % rows_per_word == 0 && columns * 255 < 1 << 16);
  static constexpr int words = kRows / rows_per_word;

  __device__ Sum sum_of(int r) const {
    Sum sum = 0;
#pragma unroll
    for (int q = 0; q < kQuads; ++q)
      sum = pixels_[r][q].sum_to(quad_pixels - 1, sum);
    return sum;
  }
  __device__ static Sum part(Sum word, int i) {
    return rows_per_word == 1 ? word : word >> (16 * i) & 0xffff;
  }

  Pixels pixels_[kRows][kQuads];
  Sum before_[words];  // of the lanes before this one
};

/// The shape of a tile and of the block that works on it.
template <int kRowsOfWarp, int kQuadsOfLane, int kWarpsOfBlock, int kBatch>
struct TileShape {
  static constexpr int rows_of_warp = kRowsOfWarp;
  static constexpr int quads = kQuadsOfLane;
  static constexpr int warps = kWarpsOfBlock;
  static constexpr int batch = kBatch;  // of words asked for
  static constexpr int threads = 32 * warps;
  static constexpr int columns = 32 * quads * quad_pixels;
  static constexpr int rows = rows_of_warp * warps;

  // What the warps of a block ask of other tiles, one thing after the other.
  static constexpr int askings_for_columns = columns / 32;
  static constexpr int askings_for_rows = (rows + 31) / 32;
  static constexpr int askings_for_corner = warps > askings_for_columns + askings_for_rows
                                                ? warps - askings_for_columns - askings_for_rows
                                                : 4;
  static constexpr int askings = askings_for_columns + askings_for_rows + askings_for_corner;
};

/// What the warps of a block tell each other. Tile: sums within a tile; Sum: of the table.
template <class Tile, class Sum, class Element, class Shape>
struct SharedTile {
  // With two, writing one overlaps reading the other.
  static constexpr int lines = Shape::columns * Shape::warps * sizeof(Element) > 8192 ? 1 : 2;

  TileLine<Tile, Shape::quads> columns[Shape::warps];  // the sums of a warp's rows up to a column
  Sum left[Shape::rows];                               // the picture to the left of each row
  // Shares of the picture above and to the left of the tile.
  Sum corners[Shape::askings_for_corner];
  int coming;  // the tile that the block has drawn
  union {
    // The picture above a warp's rows, from the tile's first column on.
    TileLine<Sum, Shape::quads> above;
    // Afterwards: entries, on their way from quads to rows.
    TileLine<Element, Shape::quads> line[lines];
  } of_warp[Shape::warps];
};

/// A tile's row and column in the grid.
struct TilePlace {
  int row, column;

  __device__ TilePlace(const TileGrid& grid, int tile)
      : row(tile / grid.columns), column(tile % grid.columns) {}
};

template <class Value, bool kSquared, class Element, class Shape, int kBlocks>
__global__ void __launch_bounds__(Shape::threads, kBlocks)
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
  const TileExchange<RelaxedAtomics<Tile>> exchange(a.grid, static_cast<Tile*>(a.words),
                                                    launch.current());
  const int thread = threadIdx.x;
  const int warp = thread / 32;
  const int lane = thread % 32;
  const bool one_each = a.grid.count() <= static_cast<int>(gridDim.x);
  // By the last thread; or, where there is nothing to draw, its place in leaving.
  std::uint32_t drawn = 0;

  for (int number = blockIdx.x;;) {
    const TilePlace tile(a.grid, number);
    const int x = tile.column * Shape::columns;
    const int y = tile.row * Shape::rows + warp * kRows;
    Rows rows;
    rows.load(a, x, y, lane);
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

    // All warps publish everything before any of them polls.
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
    for (int asking = warp; asking < Shape::askings; asking += kWarps) {
      delay_for_test();
      if (asking < Shape::askings_for_columns) {
        const int column = asking * 32 + lane;
        Sum above =
            exchange.template columns_above<Sum, Shape::batch>(tile.row, tile.column, column);
        // What lies above the rows of each warp.
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
          shared.of_warp[w].above.column(column) = above;
          above += static_cast<Sum>(shared.columns[w].column(column));
        }
      } else if (asking < Shape::askings_for_columns + Shape::askings_for_rows) {
        const int row = (asking - Shape::askings_for_columns) * 32 + lane;
        if (row < Shape::rows)
          shared.left[row] =
              exchange.template row_left<Sum, Shape::batch>(tile.row, tile.column, row);
      } else {
        const int share = asking - Shape::askings_for_columns - Shape::askings_for_rows;
        const Sum corner = sum_of_warp(exchange.template corner<Sum, Shape::batch>(
            tile.row, tile.column, lane, 32, share, Shape::askings_for_corner));
        if (lane == 0)
          shared.corners[share] = corner;
      }
    }
    __syncthreads();
    if (thread == Shape::threads - 1)
      drawn = one_each ? launch.retire() : launch.ticket();

    Sum base = 0;  // of the warp's first row: what lies above it to the left of the tile
    for (int row = lane; row < warp * kRows; row += 32)
      base += shared.left[row];
    base = sum_of_warp(base);
#pragma unroll
    for (int share = 0; share < Shape::askings_for_corner; ++share)
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

    const int entries_in_row = min(a.width - x, Shape::columns);
    const int rows_there = min(a.height - y, kRows);
    std::uint8_t* to =
        a.table + a.table_pitch * (y + a.padding) + sizeof(Element) * (x + a.padding);
    if (a.padding && tile.column == 0 && lane < rows_there)
      reinterpret_cast<Element*>(to + a.table_pitch * lane)[-1] = 0;
    if (a.padding && tile.row == 0 && warp == 0)
      for (int i = lane; i <= entries_in_row; i += 32)
        (reinterpret_cast<Element*>(a.table) + x)[i] = 0;
    to += sizeof(Element) * lane;
    // The quads of a row become whole rows of the table by way of shared memory: there its
    // entries lie in one piece whatever the table's alignment. Returns the lane's first entry.
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
      return &line.column(lane);
    };
    constexpr int step = decltype(shared.of_warp[0].above)::step_of_32_columns;
    const auto write_rows = [&](const auto& store) {
      if (entries_in_row == Shape::columns && rows_there == kRows) {
#pragma unroll
        for (int r = 0; r < kRows; ++r, to += a.table_pitch) {
          const Element* entry = next_row(r);
#pragma unroll
          for (int i = 0; i < Shape::columns / 32; ++i)
            store(reinterpret_cast<Element*>(to) + 32 * i, entry[step * i]);
        }
      } else {
#pragma unroll
        for (int r = 0; r < kRows; ++r, to += a.table_pitch) {
          if (r >= rows_there)
            break;
          const Element* entry = next_row(r);
#pragma unroll
          for (int i = 0; i < Shape::columns / 32; ++i)
            if (32 * i + lane < entries_in_row)
              store(reinterpret_cast<Element*>(to) + 32 * i, entry[step * i]);
        }
      }
    };
    if (a.keep_in_cache)
      write_rows([](Element* place, Element entry) { *place = entry; });
    else
      write_rows([](Element* place, Element entry) { __stcs(place, entry); });
    if (one_each)
      break;
    if (thread == Shape::threads - 1)
      shared.coming = static_cast<int>(gridDim.x + drawn);
    __syncthreads();
    number = shared.coming;
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
