// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Tilted sums by sums along diagonals. Let the rising diagonal of a pixel be itself and those to
// its upper right, and the falling one itself and those to its upper left, with the sums
//   A(x, y) = I(x, y) + A(x + 1, y − 1),  B(x, y) = I(x, y) + B(x − 1, y − 1).
// T(x + 1, y + 1) is the sum over a triangle whose lowest pixel is (x, y). Its outermost pixels are
// those on both diagonals, and the others are the triangle of the pixel above:
//   T(x + 1, y + 1) = T(x + 1, y) + A(x, y) + B(x − 1, y − 1).
// In a row of the table, neighbours differ by T(x + 1, Y) − T(x, Y) = A(x, Y − 1) − B(x − 1, Y −
// 1).
//
// The picture is cut into bands of rows. With the sums A and B of the row above a band, all columns
// go down the band together. These are sums of what each band adds to a diagonal by itself:
// band_rows columns farther with each band. All of this runs on the host as well, where the tests
// compare it with plain code for one triangle at a time.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::integral {

/// The rows of a band. That many columns are also a block of columns: a diagonal that crosses a
/// band crosses as many.
constexpr int band_rows = 32;

/// The columns of the picture, from `x` on, that a warp follows down a band, 8 for each lane. The
/// sums come from neighbours, so those of band_rows columns at either end are wrong in the end.
struct BandColumns {
  static constexpr int of_lane = 8;
  static constexpr int columns = 32 * of_lane;
  static constexpr int first_right = band_rows;
  static constexpr int end_right = columns - band_rows;
  static constexpr int right = end_right - first_right;  ///< columns whose sums are right
  static constexpr int blocks = right / band_rows;
  static_assert(right % band_rows == 0);

  CUDAVISION_HOST_DEVICE static int count(int width) { return (width + right - 1) / right; }
  /// Returns the first column of the warp of a number, which may be negative.
  CUDAVISION_HOST_DEVICE static int first(int number) { return number * right - first_right; }
};

/// The sums of the diagonals that end in a lane's columns of a row.
struct LaneDiagonals {
  static constexpr int columns = BandColumns::of_lane;

  /// None of them begins above the band.
  CUDAVISION_HOST_DEVICE void clear() {
    CUDAVISION_UNROLL
    for (int i = 0; i < columns; ++i)
      rising[i] = falling[i] = 0;
  }

  /// Goes on to the next row, whose pixels are pixel(i). `right` is rising[0] of the lane to the
  /// right, `left` is falling[columns − 1] of the lane to the left, both in the row before. Calls
  /// add(i, sum) with the sum of the outermost pixels of each column's triangle.
  template <class Pixel, class Add>
  CUDAVISION_HOST_DEVICE void next_row(const Pixel& pixel, std::uint32_t right, std::uint32_t left,
                                       const Add& add) {
    CUDAVISION_UNROLL
    for (int i = 0; i < columns; ++i)
      rising[i] = pixel(i) + (i + 1 < columns ? rising[i + 1] : right);
    CUDAVISION_UNROLL
    for (int i = columns - 1; i >= 0; --i) {
      const std::uint32_t before = i > 0 ? falling[i - 1] : left;
      add(i, rising[i], before);
      falling[i] = pixel(i) + before;
    }
  }

  // A diagonal has at most 65535 pixels of at most 65535.
  std::uint32_t rising[columns], falling[columns];
};

/// The blocks of band_rows columns through which diagonals enter one band after the other: rising
/// ones from right to left, falling ones from left to right. Every block of every band is in one
/// such chain.
struct DiagonalChain {
  int band, block;  ///< where it begins
  int length;

  CUDAVISION_HOST_DEVICE static int count(int bands, int blocks) { return bands + blocks - 1; }

  CUDAVISION_HOST_DEVICE DiagonalChain(int number, int bands, int blocks, bool rising) {
    band = number < blocks ? 0 : number - blocks + 1;
    const int steps = number < blocks ? number : blocks - 1;  // to the last block
    length = steps + 1 < bands - band ? steps + 1 : bands - band;
    block = rising ? steps : blocks - 1 - steps;
  }
};

}  // namespace cudavision::integral
