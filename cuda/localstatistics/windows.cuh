// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel that moves windows over the picture. A lane has 16 neighbouring bytes of a row, and a
// warp 32 times as many; `warps_across` warps side by side make a strip. They hold the sums of
// their windows in registers and move down through a band of rows: each row adds to them what the
// terms of the windows' corners (corners.h) add up to, from the strip's beginning to each pixel. So
// a row costs the same for every radius.
//
// The windows of a band's first row come from the sums of their columns. Where the radius is small,
// the block adds up these columns itself; otherwise columns_kernel has done so.

#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/warp.cuh"
#include "cuda/localstatistics/columns.cuh"
#include "cuda/localstatistics/outputs.cuh"

namespace cudavision::localstatistics {

struct WindowArguments {
  PictureRows picture;
  OutputArguments output;
  int radius;
  int strips, warps_across;
  int band_rows;
  int halo;  // columns that the block adds up beside a strip; a multiple of those of a piece
  const std::uint32_t* columns;  // of columns_kernel, or none
  const void* square_columns;
  int columns_pitch;
};

namespace {

constexpr int window_warps = 4;  // of a block
constexpr int window_threads = 32 * window_warps;

/// The warps that share a strip of a band.
struct StripGroup {
  int warps;   // in the group
  int number;  // of the group in its block
  int warp;    // of this thread in the group

  __device__ explicit StripGroup(int warps)
      : warps(warps),
        number(static_cast<int>(threadIdx.x) / 32 / warps),
        warp(static_cast<int>(threadIdx.x) / 32 % warps) {}

  __device__ int threads() const { return 32 * warps; }
  __device__ int thread() const { return static_cast<int>(threadIdx.x) - threads() * number; }
  __device__ void sync() const {
    if (warps == 1)
      __syncwarp();
    else
      asm volatile("bar.sync %0, %1;" ::"r"(1 + number), "r"(threads()) : "memory");
  }
};

template <class Sum>
__device__ Sum whole_warp(Sum sum) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(Sum) == 4)
    return __reduce_add_sync(~0u, sum);
#endif
  return sum_of_warp(sum);
}

/// The sums that the warps of a group tell each other, in shared memory. Those of the next row do
/// not overwrite those of the last one, which other warps may still read.
template <class Sum>
struct Exchange {
  Sum totals[2][window_warps];  // of the terms of a warp's pixels
  Sum starts[2][window_warps];  // shares of what the windows left of the strip gain

  __device__ void publish(int parity, Sum inclusive, Sum start, const StripGroup& group) {
    if (group.warps == 1)
      return;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const Sum share = whole_warp(start);
    if (threadIdx.x % 32 == 31) {
      totals[parity][warp] = inclusive;
      starts[parity][warp] = share;
    }
  }
  /// Returns what all pixels to the left of the warp add up to.
  __device__ Sum before(int parity, Sum start, const StripGroup& group) const {
    if (group.warps == 1)
      return whole_warp(start);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    Sum sum = 0;
    if (lane < group.warps) {
      const int other = group.number * group.warps + lane;
      sum = starts[parity][other];
      if (lane < group.warp)
        sum += totals[parity][other];
    }
    return whole_warp(sum);
  }
};

/// The sums of a lane's windows. What they have in common is apart, so that the terms of a row are
/// added before the other warps have told what is to the left of them.
template <class Sum, int kPixels>
struct LaneWindows {
  Sum sums[kPixels];
  Sum common;

  /// Adds the running sums of a row's terms, and returns their sum.
  __device__ Sum add(const Sum (&gains)[kPixels]) {
#pragma unroll
    for (int i = 0; i < kPixels; ++i)
      sums[i] += gains[i];
    return gains[kPixels - 1];
  }
};

/// Columns' sums in shared memory. Lanes read them at a distance of a piece, so a gap after each
/// piece keeps these reads in different banks.
template <class Entry, int kPixels>
struct SharedColumns {
  Entry* entries;

  __host__ __device__ static constexpr int length(int columns) {
    return columns / kPixels * (kPixels + 1);
  }
  __device__ Entry& operator[](int column) const { return entries[column + column / kPixels]; }
};

/// The shared memory in which a group holds the sums of its columns.
template <class Value, bool kSquared>
struct GroupMemory {
  static constexpr int kPixels = pixels_of_piece<Value>;
  SharedColumns<std::uint32_t, kPixels> sums;
  SharedColumns<SquareColumn<Value>, kPixels> squares;

  __host__ __device__ static constexpr std::size_t bytes(int columns) {
    const auto length = static_cast<std::size_t>(SharedColumns<int, kPixels>::length(columns));
    return (length * (sizeof(std::uint32_t) + (kSquared ? sizeof(SquareColumn<Value>) : 0)) + 15) /
           16 * 16;
  }
  __device__ GroupMemory(void* memory, int columns, int group) {
    auto* const begin = static_cast<std::uint8_t*>(memory) + group * bytes(columns);
    const int length = SharedColumns<int, kPixels>::length(columns);
    // The squares come first because they may need the alignment of 64 bits.
    squares.entries = reinterpret_cast<SquareColumn<Value>*>(begin);
    sums.entries = reinterpret_cast<std::uint32_t*>(
        begin + (kSquared ? sizeof(SquareColumn<Value>) : 0) * length);
  }
};

/// Returns the bytes that a warp needs to pass the terms of its pixels to their lanes.
template <class Sum, class Square, int kPixels>
__host__ __device__ constexpr std::size_t warp_bytes() {
  constexpr std::size_t largest = sizeof(Sum) > sizeof(Square) ? sizeof(Sum) : sizeof(Square);
  return largest * SharedColumns<Sum, kPixels>::length(32 * kPixels);
}

/// Returns how many blocks share a multiprocessor; their registers are not spilled on any card.
template <Output kOutput, class Value, class Sum, class Square>
constexpr int window_blocks() {
  if (sizeof(Sum) == 8 || (needs_squares(kOutput) && sizeof(Value) == 1 && sizeof(Square) == 8))
    return 2;
  return needs_squares(kOutput) ? 3 : 4;
}

template <Output kOutput, class Value, class Sum, class Square>
__global__ void __launch_bounds__(window_threads, (window_blocks<kOutput, Value, Sum, Square>()))
    windows_kernel(const __grid_constant__ WindowArguments a) {
  constexpr bool kSquared = needs_squares(kOutput);
  constexpr int kPixels = pixels_of_piece<Value>;
  constexpr int kSquares = kSquared ? kPixels : 1;
  extern __shared__ uint4 memory[];
  __shared__ Exchange<Sum> exchange;
  __shared__ Exchange<Square> square_exchange;
  const PictureRows& picture = a.picture;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const StripGroup group(a.warps_across);
  const int strip_columns = group.threads() * kPixels;
  const int strip_x = static_cast<int>(blockIdx.x) % a.strips * strip_columns;
  const int x = strip_x + group.thread() * kPixels;
  const int band =
      static_cast<int>(blockIdx.x) / a.strips * (window_warps / group.warps) + group.number;
  const int first = band * a.band_rows;
  const int end = min(first + a.band_rows, picture.height);
  launch_dependents();
  grid_dependency_wait();
  if (first >= end)
    return;

  const PiecePlace right(picture, (x + a.radius) * static_cast<int>(sizeof(Value)));
  const PiecePlace left(picture, (x - a.radius - 1) * static_cast<int>(sizeof(Value)));
  // The columns of the window of the pixel to the left of the strip.
  const int start_begin = max(strip_x - 1 - a.radius, 0);
  const int start_end = min(strip_x + a.radius, picture.width);

  LaneWindows<Sum, kPixels> sums{};
  LaneWindows<Square, kSquares> squares{};
  int parity = 0;
  const auto move = [&](Sum gain, Sum start, Square square_gain, Square square_start) {
    const Sum inclusive = inclusive_scan(gain);
    exchange.publish(parity, inclusive, start, group);
    Square square_inclusive = 0;
    if constexpr (kSquared) {
      square_inclusive = inclusive_scan(square_gain);
      square_exchange.publish(parity, square_inclusive, square_start, group);
    }
    group.sync();
    sums.common += exchange.before(parity, start, group) + inclusive - gain;
    if constexpr (kSquared)
      squares.common +=
          square_exchange.before(parity, square_start, group) + square_inclusive - square_gain;
    parity ^= 1;
  };

  {
    Sum gains[kPixels], start = 0;
    Square square_gains[kSquares], square_start = 0;
    if (!a.columns) {
      using Memory = GroupMemory<Value, kSquared>;
      using Columns = ColumnSums<Value, std::conditional_t<kSquared, SquareColumn<Value>, void>>;
      const int columns = strip_columns + 2 * a.halo;
      const Memory shared(memory, columns, group.number);
      const int first_column = strip_x - a.halo;
      for (int round = 0; round < columns; round += strip_columns) {
        const int i = round + group.thread() * kPixels;
        const PiecePlace rows_at(picture, (first_column + i) * static_cast<int>(sizeof(Value)));
        if (i >= columns)
          continue;
        Columns added;
        add_rows<Value>(picture, rows_at, first - a.radius, first + a.radius + 1, added);
        added.flush();
#pragma unroll
        for (int k = 0; k < kPixels; ++k) {
          shared.sums[i + k] = added.sums[k];
          if constexpr (kSquared)
            shared.squares[i + k] = added.squares[k];
        }
      }
      group.sync();
      const auto gains_of = [&](const auto& from, auto& to, auto& start_sum) {
        using Entry = std::remove_reference_t<decltype(start_sum)>;
        Entry running = 0;
#pragma unroll
        for (int k = 0; k < kPixels; ++k) {
          const int column = x - first_column + k;
          running += static_cast<Entry>(from[column + a.radius]) -
                     static_cast<Entry>(from[column - a.radius - 1]);
          to[k] = running;
        }
        for (int c = start_begin + group.thread(); c < start_end; c += group.threads())
          start_sum += from[c - first_column];
      };
      gains_of(shared.sums, gains, start);
      if constexpr (kSquared)
        gains_of(shared.squares, square_gains, square_start);
    } else {
      // Lanes read neighbouring columns, which then go to the lanes of their pieces.
      const auto gains_of = [&](const auto* from, auto& to, auto& start_sum) {
        using Entry = std::remove_reference_t<decltype(start_sum)>;
        from += static_cast<std::int64_t>(a.columns_pitch) * band;
        const int warp_columns = 32 * kPixels;
        const SharedColumns<Entry, kPixels> shared{
            reinterpret_cast<Entry*>(reinterpret_cast<std::uint8_t*>(memory) +
                                     warp_bytes<Sum, Square, kPixels>() * (threadIdx.x / 32))};
        const auto column = [&](int c) -> Entry {
          return c >= 0 && c < picture.width ? static_cast<Entry>(from[c]) : Entry{0};
        };
        __syncwarp();
#pragma unroll
        for (int k = 0; k < kPixels; ++k) {
          const int i = 32 * k + lane;
          const int c = strip_x + group.warp * warp_columns + i;
          shared[i] = column(c + a.radius) - column(c - a.radius - 1);
        }
        __syncwarp();
        Entry running = 0;
#pragma unroll
        for (int k = 0; k < kPixels; ++k)
          to[k] = running += shared[lane * kPixels + k];
        for (int c = start_begin + group.thread(); c < start_end; c += group.threads())
          start_sum += static_cast<Entry>(from[c]);
      };
      gains_of(a.columns, gains, start);
      if constexpr (kSquared)
        gains_of(static_cast<const SquareColumn<Value>*>(a.square_columns), square_gains,
                 square_start);
    }
    Square square_gain = 0;
    if constexpr (kSquared)
      square_gain = squares.add(square_gains);
    move(sums.add(gains), start, square_gain, square_start);
  }

  OutputRows<kOutput, Value, Sum> output(a.output, picture, a.radius, x);
  const std::uint8_t* gained = picture.row(first + a.radius);
  const std::uint8_t* lost = picture.row(first - a.radius - 1);
  bool gains_row = false, loses_row = false;
  PiecePair right_pairs[2], left_pairs[2];  // of the rows gained and lost
  const auto move_down = [&](int y) {
    gained += picture.pitch;
    lost += picture.pitch;
    gains_row = y + a.radius < picture.height;
    loses_row = y > a.radius;
    const int row_bytes = picture.row_bytes();
    if (right.ragged || left.ragged) {
      right_pairs[0] = right.load_ragged(gained, gains_row, row_bytes);
      right_pairs[1] = right.load_ragged(lost, loses_row, row_bytes);
      left_pairs[0] = left.load_ragged(gained, gains_row, row_bytes);
      left_pairs[1] = left.load_ragged(lost, loses_row, row_bytes);
    } else {
      right_pairs[0] = right.load(gained, gains_row);
      right_pairs[1] = right.load(lost, loses_row);
      left_pairs[0] = left.load(gained, gains_row);
      left_pairs[1] = left.load(lost, loses_row);
    }
  };
  for (int y = first;;) {
    output.write(y, sums, squares);
    if (++y == end)
      break;
    move_down(y);
    Piece right_pieces[2], left_pieces[2];
    take_pieces(right_pairs, right.skew, right_pieces);
    take_pieces(left_pairs, left.skew, left_pieces);
    Corners corners{right_pieces[0], right_pieces[1], left_pieces[0], left_pieces[1]};
    Sum start = 0;
    Square square_start = 0;
#pragma unroll 1
    for (int c = start_begin + group.thread(); c < start_end; c += group.threads()) {
      const std::uint32_t gain = gains_row ? picture.pixel<Value>(gained, c) : 0;
      const std::uint32_t loss = loses_row ? picture.pixel<Value>(lost, c) : 0;
      start += static_cast<Sum>(gain) - static_cast<Sum>(loss);
      if constexpr (kSquared)
        square_start += static_cast<Square>(gain) * gain - static_cast<Square>(loss) * loss;
    }
    if (sizeof(Value) == 2 && picture.convert)
      corners = values_of_words(corners, picture.shift, picture.largest);
    Sum gain, gains[kPixels];
    if constexpr (sizeof(Value) == 1)
      add_up_bytes(corners, gains);
    else
      add_up_words(corners, gains);
    gain = sums.add(gains);
    Square square_gain = 0;
    if constexpr (kSquared) {
      Square square_gains[kPixels];
      if constexpr (sizeof(Value) == 1)
        add_up_squared_bytes(corners, square_gains);
      else
        add_up_squared_words(corners, square_gains);
      square_gain = squares.add(square_gains);
    }
    move(gain, start, square_gain, square_start);
  }
}

}  // namespace
}  // namespace cudavision::localstatistics
