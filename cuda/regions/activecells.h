// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/regions/regions.h"

namespace cudavision::regions {

/// A coarse map of the areas of a frame where the result of an operation is needed: up to 64×64
/// cells, one bit each. Its size and look-up cost do not depend on the number of regions.
/// Operations skip areas that touch no active cell. The output is undefined in inactive cells.
class ActiveCells {
 public:
  static constexpr int side = 64;

  ActiveCells() = default;
  /// Makes a map without active cells.
  ActiveCells(int width, int height) : width_(width), height_(height) {
    while ((width - 1) >> shift_x_ >= side)
      ++shift_x_;
    while ((height - 1) >> shift_y_ >= side)
      ++shift_y_;
  }

  /// Activates the cells with pixels in the box, which is clipped to the frame.
  void add(const Box& box) {
    const Box inside = clipped(box, width_, height_);
    if (inside.empty())
      return;
    for (int y = inside.y0 >> shift_y_; y <= (inside.y1 - 1) >> shift_y_; ++y)
      rows_[y] |= columns(inside.x0, inside.x1);
  }

  /// Returns true if an active cell has pixels in the box. The box must begin in the frame and have
  /// at least one pixel, but may end beyond the frame.
  CUDAVISION_HOST_DEVICE bool touch(const Box& box) const {
    const std::uint64_t mask = columns(box.x0, box.x1);
    const int last = (box.y1 - 1) >> shift_y_;
    for (int y = box.y0 >> shift_y_; y <= last && y < side; ++y)
      if ((rows_[y] & mask) != 0)
        return true;
    return false;
  }

  /// Calls function(x0, x1) for each run of pixels in active cells of row y. Joins runs that are at
  /// most `gap` pixels apart.
  template <class Function>
  void for_each_run(int y, int gap, const Function& function) const {
    int begin = 0, end = 0;  // of the current run
    for (int column = 0; column < side; ++column) {
      if ((rows_[y >> shift_y_] >> column & 1) == 0)
        continue;
      const int x = column << shift_x_;
      if (end > 0 && x - end > gap)
        function(begin, end);
      if (end == 0 || x - end > gap)
        begin = x;
      end = std::min(x + (1 << shift_x_), width_);
    }
    if (end > 0)
      function(begin, end);
  }

  bool any() const { return touch({0, 0, width_, height_}); }

  int cell_width() const { return 1 << shift_x_; }  ///< pixels
  int cell_height() const { return 1 << shift_y_; }
  /// Returns one bit per cell of a row of cells.
  std::uint64_t row(int number) const { return rows_[number]; }

 private:
  /// Bits of the columns that contain pixels x0 to x1 − 1.
  CUDAVISION_HOST_DEVICE std::uint64_t columns(int x0, int x1) const {
    const int last = (x1 - 1) >> shift_x_;
    const int cell = x0 >> shift_x_, first = cell < side ? cell : side - 1;
    const std::uint64_t from_first = ~std::uint64_t{0} << first;
    return last < side - 1 ? from_first & ~(~std::uint64_t{0} << (last + 1)) : from_first;
  }

  std::uint64_t rows_[side] = {};
  int width_ = 0, height_ = 0;
  int shift_x_ = 0, shift_y_ = 0;  // a cell has 2^shift pixels along each axis
};

}  // namespace cudavision::regions
