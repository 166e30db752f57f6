// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel that adds up windows. A block takes a strip of the picture and a band of its rows.
// Each thread holds the sums of a few neighbouring columns over the rows of a window in its
// registers, and moves them down through the band. For each row, the block adds up its columns from
// left to right in shared memory; a window's sum is then the difference of two of these prefix
// sums. So a row costs the same for every radius.
//
// The columns of a band's first row are added up by the block itself where the radius is small;
// otherwise columns_kernel has done so.

#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/localstatistics/columns.cuh"
#include "cuda/localstatistics/outputs.cuh"
#include "cuda/localstatistics/prefixsums.cuh"

namespace cudavision::localstatistics {

struct WindowArguments {
  PictureRows picture;
  OutputArguments output;
  int radius;
  int band_rows;
  int strips, strip_pixels;
  // The columns that a block adds up: a left and a right half. Their first ones, relative to the
  // strip, are those of pieces. The halves meet, or there is a gap between them.
  int left, right;
  int gap;               // columns between the halves
  ColumnTables columns;  // of columns_kernel, or none
  int skew;              // the column of the tables of the picture's first column
  // For running_kernel: the columns of a strip beside those that it writes, in pieces, and bytes
  // that are 1 for each of the columns of a piece that are added up for the first window of a lane.
  int halo_pieces;
  std::uint32_t left_weights[4], right_weights[4];
};

namespace {

/// Returns how many blocks of 256 threads share a multiprocessor; their registers are not spilled
/// on any card.
template <Output kOutput, class Value, class Sum, class Square>
constexpr int window_blocks() {
  if (kOutput == Output::sauvola && sizeof(Value) == 1 && sizeof(Sum) == 4 && sizeof(Square) == 8)
    return 1;
  return needs_squares(kOutput) || sizeof(Sum) == 8 ? 2 : 3;
}

template <Output kOutput, class Value, bool kPacked, class Sum, class Square>
__global__ void __launch_bounds__(256, (window_blocks<kOutput, Value, Sum, Square>()))
    windows_kernel(const __grid_constant__ WindowArguments a) {
  constexpr bool kSquared = needs_squares(kOutput);
  constexpr int kPixels = pixels_of_piece<Value>;
  constexpr int kWarpPixels = 32 * kPixels;
  constexpr int kGroups = kPixels / 4;
  constexpr bool kThreshold = WindowOutput<kOutput, Value, Sum>::kThreshold;
  using Columns = WindowColumns<Value, kPacked, kSquared>;
  extern __shared__ uint4 memory[];
  __shared__ WarpTotals<Sum> totals;
  __shared__ WarpTotals<Square> square_totals;
  const PictureRows& picture = a.picture;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  PrefixSums<Sum, kPixels> prefix(memory);
  PrefixSums<Square, kPixels> square_prefix(
      reinterpret_cast<std::uint8_t*>(memory) +
      (kSquared ? PrefixSums<Sum, kPixels>::bytes(static_cast<int>(blockDim.x)) : 0));
  launch_dependents();
  grid_dependency_wait();

  const int strip = static_cast<int>(blockIdx.x) % a.strips;
  const int band = static_cast<int>(blockIdx.x) / a.strips;
  const int first = band * a.band_rows;
  const int end = min(first + a.band_rows, picture.height);
  const int strip_x = strip * a.strip_pixels;
  const int half = static_cast<int>(blockDim.x) * kPixels / 2;
  const bool has_gap = a.gap > 0;
  const int gap_begin = max(strip_x + a.left + half, 0);
  const int gap_end = min(strip_x + a.right, picture.width);
  const int column = thread * kPixels < half ? strip_x + a.left + thread * kPixels
                                             : strip_x + a.right + thread * kPixels - half;
  const PiecePlace place(picture, column * static_cast<int>(sizeof(Value)));

  Columns columns;
  Sum gap = 0;
  Square square_gap = 0;
  int begin = first - a.radius;
  if (a.columns.sums) {
    const TableRows table(a.columns, band, a.radius);
    table.add_to<Value, kSquared>(a.columns, column + a.skew, picture.width + a.skew, columns);
    begin += table.rows;
    if (has_gap)
      for (int c = gap_begin + thread; c < gap_end; c += static_cast<int>(blockDim.x)) {
        gap += table.difference(a.columns.sums, c + a.skew);
        if constexpr (kSquared)
          square_gap += table.difference(static_cast<const SquareColumn<Value>*>(a.columns.squares),
                                         c + a.skew);
        for (int y = begin; y <= first + a.radius; ++y) {
          const std::uint32_t pixel = picture.pixel_if<Value>(y, c);
          gap += pixel;
          if constexpr (kSquared)
            square_gap += static_cast<Square>(pixel) * pixel;
        }
      }
  }
  add_rows<Value>(picture, place, begin, first + a.radius + 1, columns);

  Sum exclusive;
  Square square_exclusive = 0;
  const auto publish = [&](int parity) {
    const Sum total = columns.template total<Sum>();
    const Sum inclusive = scan_of_warp(total);
    totals.publish(parity, inclusive, gap, has_gap);
    exclusive = inclusive - total;
    if constexpr (kSquared) {
      const Square square_total = columns.template square_total<Square>();
      const Square square_inclusive = scan_of_warp(square_total);
      square_totals.publish(parity, square_inclusive, square_gap, has_gap);
      square_exclusive = square_inclusive - square_total;
    }
  };
  publish(0);

  MovingRows<Value> rows(picture, place, first + 1, a.radius);
  rows.load(first + 1);

  WindowOutput<kOutput, Value, Sum> output(a.output, picture, a.radius);
  // A warp writes groups of 128 pixels, and each of its lanes four neighbouring ones.
  const int x = strip_x + thread / 32 * kWarpPixels + 4 * lane;
  const int strip_end = min(strip_x + a.strip_pixels, picture.width);
  const int to_left = -a.radius - 1 - (strip_x + a.left);
  const int to_right = a.radius - (strip_x + a.right) + half;
  // Groups whose windows are all whole, and whose pixels and samples lie in aligned words.
  constexpr unsigned all_groups = (1u << kGroups) - 1;
  unsigned whole_groups = 0;
#pragma unroll
  for (int k = 0; k < kGroups; ++k) {
    const int group_x = x - 4 * lane + 128 * k;
    if (a.output.aligned && group_x >= a.radius && group_x + 128 + a.radius <= picture.width &&
        group_x + 128 <= strip_end)
      whole_groups |= 1u << k;
  }
  PrefixReader<Sum> reader(prefix, x + to_left, x + to_right);
  PrefixReader<Square> square_reader(square_prefix, x + to_left, x + to_right);
  const std::uint8_t* pixels_at = picture.row(first) + x * static_cast<int>(sizeof(Value));
  std::uint8_t* to =
      a.output.data + a.output.pitch * first + std::int64_t{x} * a.output.sample_bytes;
  __syncthreads();

  for (int y = first, parity = 0; y < end; ++y, parity ^= 1) {
    {
      Sum sums[kPixels];
      columns.add_up(exclusive + totals.before(parity, has_gap), sums);
      prefix.store(parity, sums);
      if constexpr (kSquared) {
        Square squares[kPixels];
        columns.add_up_squares(square_exclusive + square_totals.before(parity, has_gap), squares);
        square_prefix.store(parity, squares);
      }
    }
    if (y + 1 < end) {
      columns.move(rows.gained, rows.lost);
      if (has_gap)
        for (int c = gap_begin + thread; c < gap_end; c += static_cast<int>(blockDim.x)) {
          const std::uint32_t gain = picture.pixel_if<Value>(y + 1 + a.radius, c);
          const std::uint32_t loss = picture.pixel_if<Value>(y - a.radius, c);
          gap += static_cast<Sum>(gain) - static_cast<Sum>(loss);
          if constexpr (kSquared)
            square_gap += static_cast<Square>(gain) * gain - static_cast<Square>(loss) * loss;
        }
      rows.load(y + 2);
      publish(parity ^ 1);
    }
    __syncthreads();
    output.begin_row(y);
    const bool divides = kOutput == Output::mean && sizeof(Sum) == 4 && a.output.divides;
    const auto write_group = [&](int k, auto by_multiplication) {
      std::uint32_t pixels[4]{}, values[4];
      Sum sums[4];
      Square squares[4]{};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        sums[j] = reader.window(j, k);
        if constexpr (kSquared)
          squares[j] = square_reader.window(j, k);
      }
      if constexpr (kThreshold)
        load_aligned_pixels<Value>(picture, pixels_at + 128 * k * sizeof(Value), pixels);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        values[j] = output.template value<decltype(by_multiplication)::value>(pixels[j], sums[j],
                                                                              squares[j]);
      output.store_aligned(to, k, values);
    };
    if (divides && whole_groups == all_groups) {
#pragma unroll
      for (int k = 0; k < kGroups; ++k)
        write_group(k, std::true_type());
    } else {
#pragma unroll 1
      for (int k = 0; k < kGroups; ++k)
        if (whole_groups >> k & 1) {
          if (divides)
            write_group(k, std::true_type());
          else
            write_group(k, std::false_type());
        }
    }
    reader.next_row();
    if constexpr (kSquared)
      square_reader.next_row();
    pixels_at += picture.pitch;
    to += a.output.pitch;
    if (whole_groups == all_groups)
      continue;
#pragma unroll 1
    for (int k = 0; k < 4 * kGroups; ++k) {
      const int pixel_x = x - 3 * lane + 32 * k;
      if (whole_groups >> (k / 4) & 1 || pixel_x >= strip_end)
        continue;
      const int left_place = prefix.place(max(pixel_x + to_left, -1));
      const int right_place = prefix.place(min(pixel_x + to_right, 2 * half - 1));
      const Sum sum = prefix.at(parity, right_place) - prefix.at(parity, left_place);
      Square squares = 0;
      if constexpr (kSquared)
        squares = square_prefix.at(parity, right_place) - square_prefix.at(parity, left_place);
      output.write_one(y, pixel_x, sum, squares);
    }
  }
}

}  // namespace
}  // namespace cudavision::localstatistics
