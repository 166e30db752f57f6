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
  QuadWeights weights;
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
  if (kOutput == Output::sauvola && sizeof(Square) == 8 && (sizeof(Sum) == 4 || sizeof(Value) == 2))
    return 1;
  return kOutput != Output::mean || sizeof(Sum) == 8 ? 2 : 3;
}

/// Sums of columns of bytes are quads if all sums fit 32 bits.
template <Output kOutput, class Value, class Sum, class Square>
using ColumnsOf = std::conditional_t<sizeof(Value) == 1 && sizeof(Sum) == 4 && sizeof(Square) == 4,
                                     QuadColumns<needs_squares(kOutput)>,
                                     SingleColumns<Value, needs_squares(kOutput)>>;

template <Output kOutput, class Value, class Sum, class Square>
__global__ void __launch_bounds__(256, (window_blocks<kOutput, Value, Sum, Square>()))
    windows_kernel(const __grid_constant__ WindowArguments a) {
  constexpr bool kSquared = needs_squares(kOutput);
  constexpr int kPixels = pixels_of_piece<Value>;
  constexpr int kGroups = kPixels / 4;
  constexpr bool kThreshold = WindowOutput<kOutput, Value, Sum>::kThreshold;
  extern __shared__ uint4 memory[];
  __shared__ WarpTotals<Sum> totals;
  __shared__ WarpTotals<Square> square_totals;
  const PictureRows& picture = a.picture;
  const int thread = static_cast<int>(threadIdx.x);
  PrefixSums<Sum, Square, kSquared, kPixels> prefix(memory);
  launch_dependents();
  grid_dependency_wait();

  const int strip = static_cast<int>(blockIdx.x) % a.strips;
  const int band = static_cast<int>(blockIdx.x) / a.strips;
  const int first = band * a.band_rows;
  const int end = min(first + a.band_rows, picture.height);
  const int strip_x = strip * a.strip_pixels;
  // Half of the block has the columns before the gap, and the other half those after it.
  const int half = static_cast<int>(blockDim.x) * kPixels / 2;
  const bool has_gap = a.gap > 0;
  const int gap_begin = max(strip_x + a.left + half, 0);
  const int gap_end = min(strip_x + a.right, picture.width);
  const int column = thread * kPixels < half ? strip_x + a.left + thread * kPixels
                                             : strip_x + a.right + thread * kPixels - half;
  const PiecePlace place(picture, column * static_cast<int>(sizeof(Value)));

  ColumnsOf<kOutput, Value, Sum, Square> columns;
  Sum gap = 0;
  Square square_gap = 0;
  const int window_begin = first - a.radius, window_end = first + a.radius + 1;
  if (a.columns.sums) {
    const TableRows table(a.columns, band, a.radius);
    const int table_end = window_begin + table.rows;
    const int at = column + a.skew;
    if (at >= 0 && at < picture.width + a.skew) {
      std::uint32_t sums[kPixels];
      table.take(a.columns.sums + at, sums);
      columns.add_sums(sums, a.output.mean.scale);
      if constexpr (kSquared) {
        SquareColumn<Value> squares[kPixels];
        table.take(static_cast<const SquareColumn<Value>*>(a.columns.squares) + at, squares);
        columns.add_squares(squares);
      }
    }
    add_rows<Value, 4>(picture, place, table_end, window_end,
                       [&](const Piece& row, const Piece& other) {
                         columns.add(row, a.weights);
                         columns.add(other, a.weights);
                       });
    add_rows<Value, 4>(picture, place, window_end, table_end,
                       [&](const Piece& row, const Piece& other) {
                         columns.take(row, a.weights);
                         columns.take(other, a.weights);
                       });
    if (has_gap)
      for (int c = gap_begin + thread; c < gap_end; c += static_cast<int>(blockDim.x)) {
        std::uint32_t sum[1];
        table.take(a.columns.sums + c + a.skew, sum);
        gap += sum[0];
        if constexpr (kSquared) {
          SquareColumn<Value> square[1];
          table.take(static_cast<const SquareColumn<Value>*>(a.columns.squares) + c + a.skew,
                     square);
          square_gap += static_cast<Square>(square[0]);
        }
        for (int y = min(table_end, window_end); y < max(table_end, window_end); ++y) {
          const std::uint32_t pixel = picture.pixel_if<Value>(y, c);
          gap += y < window_end ? static_cast<Sum>(pixel) : 0 - static_cast<Sum>(pixel);
          if constexpr (kSquared) {
            const Square square = static_cast<Square>(pixel) * pixel;
            square_gap += y < window_end ? square : 0 - square;
          }
        }
      }
  } else {
    constexpr int kBatch = kSquared && sizeof(Square) == 8 ? 4 : 8;
    add_rows<Value, kBatch>(picture, place, window_begin, window_end,
                            [&](const Piece& row, const Piece& other) {
                              columns.add(row, a.weights);
                              columns.add(other, a.weights);
                            });
  }

  Sum exclusive;
  Square square_exclusive = 0;
  const auto publish = [&](int parity) {
    const Sum total = columns.template total<Sum>();
    const Sum inclusive = scan_of_warp(total);
    totals.publish(parity, inclusive, gap << a.output.mean.scale, has_gap);
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
  // Two warps take turns in groups of 128 pixels, of which a lane has four neighbouring ones. So
  // windows that are cut, which take longer, are those of more warps.
  const int x = strip_x + thread / 64 * 64 * kPixels + thread / 32 % 2 * 128 + 4 * (thread % 32);
  const int group_x = x - 4 * (thread % 32);
  const int strip_end = min(strip_x + a.strip_pixels, picture.width);
  const int to_left = -a.radius - 1 - (strip_x + a.left);
  const int to_right = a.radius - (strip_x + a.right) + half;
  // Groups whose windows are all whole, and whose pixels and samples lie in aligned words.
  constexpr unsigned all_groups = (1u << kGroups) - 1;
  unsigned whole_groups = 0;
#pragma unroll
  for (int k = 0; k < kGroups; ++k)
    if (a.output.aligned && group_x + 256 * k >= a.radius &&
        group_x + 256 * k + 128 + a.radius <= picture.width && group_x + 256 * k + 128 <= strip_end)
      whole_groups |= 1u << k;
  PrefixReader<Sum, Square, kSquared, kPixels> reader(prefix, x + to_left, x + to_right);
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
        prefix.store_squares(parity, squares);
      }
    }
    if (y + 1 < end) {
      columns.move(rows.gained, rows.lost, a.weights);
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
    unsigned in_doubt = 0;  // a bit for each pixel
    const auto doubt = [&](int k, const bool(&decided)[4]) {
      if (!(decided[0] && decided[1] && decided[2] && decided[3]))
#pragma unroll
        for (int j = 0; j < 4; ++j)
          in_doubt |= static_cast<unsigned>(!decided[j]) << (4 * k + j);
    };
    constexpr int kUsualBytes = kThreshold ? 1 : sizeof(Value);
    const auto write_groups = [&](auto by_multiplication, auto usual) {
      const int sample_bytes = decltype(usual)::value ? kUsualBytes : a.output.sample_bytes;
      const auto write_group = [&](int k) {
        std::uint32_t pixels[4]{}, results[4];
        if constexpr (kThreshold)
          load_aligned_pixels<Value>(picture, pixels_at + 256 * k * sizeof(Value), pixels);
        Sum sums[4];
        Square squares[4]{};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          sums[j] = reader.sum(j, k);
          if constexpr (kSquared)
            squares[j] = reader.squares(j, k);
        }
        bool decided[4] = {true, true, true, true};
#pragma unroll
        for (int j = 0; j < 4; ++j)
          results[j] = output.template result<decltype(by_multiplication)::value>(
              pixels[j], sums[j], squares[j], decided[j]);
        doubt(k, decided);
        output.store(to + 256 * k * sample_bytes, sample_bytes, results);
      };
      // Sauvola's threshold and squares of 64 bits are too many numbers for several groups at once.
      constexpr bool kAtOnce = kOutput != Output::sauvola && !(kSquared && sizeof(Square) == 8);
      if (kAtOnce && decltype(usual)::value && whole_groups == all_groups) {
#pragma unroll
        for (int k = 0; k < kGroups; ++k)
          write_group(k);
      } else {
#pragma unroll 1
        for (int k = 0; k < kGroups; ++k)
          if (whole_groups >> k & 1)
            write_group(k);
      }
    };
    if (a.output.sample_bytes != kUsualBytes)
      write_groups(std::false_type(), std::false_type());
    else if (kOutput == Output::mean && sizeof(Sum) == 4 && a.output.mean.exact)
      write_groups(std::true_type(), std::true_type());
    else
      write_groups(std::false_type(), std::true_type());
    reader.next_row();
    if (whole_groups != all_groups || in_doubt != 0) {
      const auto left_of = [&](int pixel_x) {
        return min(max(pixel_x + to_left, -1), 2 * half - 1);
      };
      const auto right_of = [&](int pixel_x) {
        return min(max(pixel_x + to_right, -1), 2 * half - 1);
      };
      const auto sum_of = [&](int pixel_x) {
        return prefix.sum(parity, left_of(pixel_x), right_of(pixel_x));
      };
      const auto squares_of = [&](int pixel_x) -> Square {
        if constexpr (kSquared)
          return prefix.squares(parity, left_of(pixel_x), right_of(pixel_x));
        return 0;
      };
      const auto pixel_of = [&](int pixel_x) {
        return kThreshold ? picture.pixel<Value>(picture.row(y), pixel_x) : 0;
      };
#pragma unroll 1
      for (int k = 0; k < kGroups; ++k) {
        const int pixel_x = x + 256 * k;
        if (whole_groups >> k & 1 || pixel_x >= strip_end)
          continue;
        const bool together = a.output.aligned && pixel_x + 4 <= strip_end;
        std::uint32_t results[4];
        bool decided[4] = {true, true, true, true};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int cut_x = min(pixel_x + j, strip_end - 1);
          results[j] = output.cut_result(cut_x, pixel_of(cut_x), sum_of(cut_x), squares_of(cut_x),
                                         decided[j]);
        }
        doubt(k, decided);
        std::uint8_t* const cut_to = to + 256 * k * a.output.sample_bytes;
        if (together) {
          output.store(cut_to, a.output.sample_bytes, results);
        } else {
#pragma unroll
          for (int j = 0; j < 4; ++j)
            if (pixel_x + j < strip_end)
              output.store_one(cut_to + j * a.output.sample_bytes, results[j]);
        }
      }
#pragma unroll 1
      for (; in_doubt != 0; in_doubt &= in_doubt - 1) {
        const int i = __ffs(static_cast<int>(in_doubt)) - 1;
        const int offset = i / 4 * 256 + i % 4;
        if (x + offset < strip_end)
          output.store_one(to + offset * a.output.sample_bytes,
                           output.exact_result(x + offset, pixel_of(x + offset), sum_of(x + offset),
                                               squares_of(x + offset)));
      }
    }
    pixels_at += picture.pitch;
    to += a.output.pitch;
  }
}

}  // namespace
}  // namespace cudavision::localstatistics
