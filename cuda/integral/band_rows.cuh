// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the shares of the warps in the kernels of tilted sums. A warp has some columns of
// a band of rows and goes through their pixels row by row.

#include "cuda/integral/diagonals.h"
#include "cuda/integral/warp_rows.cuh"

namespace cudavision::integral {

/// Sums of the diagonals that cross a band, at the column through which they enter it, in the row
/// above: at first those of their pixels in the band and, after the second launch, those above it.
/// Each row of blocks begins with the block of columns left of the picture for falling diagonals,
/// and ends with the one right of it for rising ones.
struct BandSums {
  std::uint32_t* columns;  ///< band_rows for each block
  std::uint64_t* blocks;   ///< the sums of their columns, written by the second launch
};

struct TiltedArguments {
  InputArguments in;
  int bands;
  int blocks;  ///< in a row of BandSums: one more than the picture has
  BandSums rising, falling;
  /// For each band, the sum of its pixels in the triangle of the pixel left of its last row.
  std::uint32_t* beside;

  std::uint8_t* table;
  std::int64_t table_pitch;
  int padding;  // 1: the table has the row Y = 0 and the column X = 0
};

namespace {

constexpr int tilted_warps = 4;  // of a block; they work independently

/// The part of a band that a warp follows.
struct BandPart {
  int band, number, lane;
  int x;  ///< the lane's first column

  __device__ explicit BandPart(const TiltedArguments& a)
      : lane(static_cast<int>(threadIdx.x) % 32) {
    const int warp = static_cast<int>(blockIdx.x * tilted_warps + threadIdx.x / 32);
    const int parts = BandColumns::count(a.in.width);
    band = warp / parts;
    number = warp - band * parts;
    x = BandColumns::first(number) + lane * BandColumns::of_lane;
  }

  __device__ bool has_columns(const TiltedArguments& a) const {
    return x >= 0 && x < (a.blocks - 1) * band_rows;
  }
  /// The sums of the diagonals that enter the band at the lane's columns.
  __device__ std::uint32_t* rising_from(const TiltedArguments& a) const {
    return a.rising.columns + (first_block(a) * band_rows + x);
  }
  __device__ std::uint32_t* falling_from(const TiltedArguments& a) const {
    return a.falling.columns + ((first_block(a) + 1) * band_rows + x);
  }
  /// The sums of those that are at these columns in the band's last row.
  __device__ std::uint32_t* rising_to(const TiltedArguments& a) const {
    return rising_from(a) + band_rows;
  }
  __device__ std::uint32_t* falling_to(const TiltedArguments& a) const {
    return falling_from(a) - band_rows;
  }
  __device__ std::int64_t first_block(const TiltedArguments& a) const {
    return static_cast<std::int64_t>(band) * a.blocks;
  }
  __device__ bool is_right() const {
    const int column = lane * BandColumns::of_lane;
    return column >= BandColumns::first_right && column < BandColumns::end_right;
  }
  /// True for the lane whose last column is the one left of the picture.
  __device__ bool ends_beside() const { return x == -BandColumns::of_lane; }
};

/// A lane's pixels of some rows.
template <class Value, int kRows>
class LaneRows {
 public:
  using Pixels = Quad<Value, false>;
  static constexpr int quads = BandColumns::of_lane / quad_pixels;

  __device__ void load(const InputArguments& in, int x, int y) {
    const bool whole = in.aligned && x >= 0 && x + BandColumns::of_lane <= in.width;
    if (whole && y + kRows <= in.height) {
      const std::uint8_t* from = in.data + in.pitch * y + static_cast<int>(sizeof(Value)) * x;
#pragma unroll
      for (int r = 0; r < kRows; ++r, from += in.pitch)
#pragma unroll
        for (int q = 0; q < quads; ++q)
          pixels_[r][q] = load_quad<Pixels, Value>(in, from + sizeof(Value) * quad_pixels * q);
    } else {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int q = 0; q < quads; ++q)
          pixels_[r][q] =
              x >= 0 ? load_quad_at_edge<Pixels, Value>(in, x + quad_pixels * q, y + r) : Pixels{};
    }
  }

  __device__ std::uint32_t pixel(int row, int i) const {
    return pixels_[row][i / quad_pixels].pixel(i % quad_pixels);
  }

 private:
  Pixels pixels_[kRows][quads];
};

/// Takes the columns of a lane down a band. Some rows are being loaded while as many are added.
template <class Value, int kRows>
class BandRows {
 public:
  /// Starts loading the first rows.
  __device__ BandRows(const InputArguments& in, const BandPart& part)
      : in_(in), x_(part.x), y_(part.band * band_rows) {
    next_.load(in_, x_, y_);
  }

  /// Calls add(i, rising, falling) for each column of a row, and then end_row(r).
  template <class Add, class EndRow>
  __device__ void follow(LaneDiagonals& diagonals, const Add& add, const EndRow& end_row) {
#pragma unroll 1
    for (int first = 0; first < band_rows; first += kRows) {
      const LaneRows<Value, kRows> rows = next_;
      if (first + kRows < band_rows)
        next_.load(in_, x_, y_ + first + kRows);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const std::uint32_t right = __shfl_down_sync(~0u, diagonals.rising[0], 1);
        const std::uint32_t left =
            __shfl_up_sync(~0u, diagonals.falling[LaneDiagonals::columns - 1], 1);
        diagonals.next_row([&](int i) { return rows.pixel(r, i); }, right, left, add);
        end_row(first + r);
      }
    }
  }

 private:
  const InputArguments& in_;
  const int x_, y_;
  LaneRows<Value, kRows> next_;
};

}  // namespace
}  // namespace cudavision::integral
