// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/regions/activecells.h"

namespace cudavision::regions {

/// Numbers the active cells of a map in row-major order, so that a launch needs blocks only for
/// these cells: each block looks up its cell by number. Several cells of the map may form one cell.
class NumberedCells {
 public:
  /// First pixel of a cell.
  struct Origin {
    int x, y;
  };

  NumberedCells() = default;
  /// Joins the map's cells to cells of at least width×height pixels. Both must be powers of two.
  NumberedCells(const ActiveCells& active, int width, int height)
      : width_(std::max(width, active.cell_width())),
        height_(std::max(height, active.cell_height())) {
    const int joined_columns = width_ / active.cell_width();
    const int joined_rows = height_ / active.cell_height();
    for (int row = 0; row < ActiveCells::side; ++row)
      rows_[row / joined_rows] |= joined(active.row(row), joined_columns);
    for (int row = 0; row < ActiveCells::side; ++row) {
      before_[row] = static_cast<std::uint16_t>(count_);
      count_ += __builtin_popcountll(rows_[row]);
    }
  }

  int count() const { return count_; }
  CUDAVISION_HOST_DEVICE int width() const { return width_; }
  CUDAVISION_HOST_DEVICE int height() const { return height_; }

  CUDAVISION_HOST_DEVICE Origin operator[](int number) const {
    int row = 0;
    CUDAVISION_UNROLL
    for (int step = ActiveCells::side / 2; step > 0; step /= 2)
      if (before_[row + step] <= number)
        row += step;
    return {bit_of(rows_[row], number - before_[row]) * width_, row * height_};
  }

 private:
  /// Returns one bit per group of `count` bits (a power of two), set if any of these bits is set.
  static std::uint64_t joined(std::uint64_t bits, int count) {
    for (; count > 1 && bits > 1; count /= 2)
      bits = even_bits(bits | bits >> 1);
    return bits;
  }

  /// Packs the even bits into the lower half.
  static std::uint64_t even_bits(std::uint64_t bits) {
    constexpr std::uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                                       0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
    bits &= masks[0];
    for (int i = 1; i < 6; ++i)
      bits = (bits | bits >> (1 << (i - 1))) & masks[i];
    return bits;
  }

  CUDAVISION_HOST_DEVICE static int bits_in(std::uint64_t word) {
#ifdef __CUDA_ARCH__
    return __popcll(word);
#else
    return __builtin_popcountll(word);
#endif
  }

  /// Returns the position of the set bit that has `below` set bits below it.
  CUDAVISION_HOST_DEVICE static int bit_of(std::uint64_t word, int below) {
    int position = 0;
    CUDAVISION_UNROLL
    for (int step = ActiveCells::side / 2; step > 0; step /= 2) {
      const int lower = bits_in(word >> position & ((std::uint64_t{1} << step) - 1));
      if (lower <= below) {
        below -= lower;
        position += step;
      }
    }
    return position;
  }

  std::uint64_t rows_[ActiveCells::side] = {};
  std::uint16_t before_[ActiveCells::side] = {};  ///< active cells before each row
  int count_ = 0;
  int width_ = 1, height_ = 1;
};

}  // namespace cudavision::regions
