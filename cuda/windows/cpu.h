// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For CPU backends: sums over windows that move down through the rows of a band. Each band keeps
// the sums of every column over the window's rows and updates them from row to row; a window's sums
// are then the differences of two of their running sums. The loops over rows have no branches and
// no special cases at the edges, so that the compiler vectorises them.

#include <algorithm>
#include <cstdint>

#include "cuda/core/parallel.h"
#include "cuda/core/runningsums.h"

namespace cudavision::windows {

/// Return the two numbers of an element that windows sum: of a sample, itself and its square; of a
/// word, its halves.
template <class Sample>
constexpr std::uint32_t first_of(Sample sample) {
  return sample;
}
template <class Sample>
constexpr std::uint32_t second_of(Sample sample) {
  return std::uint32_t{sample} * sample;
}
template <>
constexpr std::uint32_t first_of(std::uint32_t word) {
  return word & 0xffff;
}
template <>
constexpr std::uint32_t second_of(std::uint32_t word) {
  return word >> 16;
}

/// Adds the first numbers of one row to the sums of the columns, and subtracts another row's.
template <class Sum, class Element>
CUDAVISION_TARGET_CLONES void slide_first(const Element* added, const Element* removed, int width,
                                          Sum* __restrict columns) {
  for (int x = 0; x < width; ++x)
    columns[x] += Sum{first_of(added[x])} - first_of(removed[x]);
}
template <class Sum, class Element>
CUDAVISION_TARGET_CLONES void slide_second(const Element* added, const Element* removed, int width,
                                           Sum* __restrict columns) {
  for (int x = 0; x < width; ++x)
    columns[x] += Sum{second_of(added[x])} - second_of(removed[x]);
}

/// The running sums at both ends of the windows of a row: element x of `before` is the sum of all
/// columns to the left of window x, and element x of `after` includes the window.
template <class First, class Second>
struct WindowEnds {
  const First *first_before, *first_after;
  const Second *second_before, *second_after;

  First first(int x) const { return first_after[x] - first_before[x]; }
  Second second(int x) const { return second_after[x] - second_before[x]; }

  /// The windows from x on.
  WindowEnds from(int x) const {
    return {first_before + x, first_after + x, second_before + x, second_after + x};
  }
};

/// The windows of a band, with scratch memory of their own.
template <class Element, class First, class Second>
class WindowRows {
 public:
  using Ends = WindowEnds<First, Second>;

  /// Without both, there are no second sums.
  WindowRows(Scratch& scratch, int width, bool both)
      : width_(width),
        both_(both),
        added_(scratch.take<Element>(width)),
        removed_(scratch.take<Element>(width)),
        zeros_(scratch.take<Element>(width)),
        first_columns_(scratch.take<First>(width)),
        first_running_(scratch.take<First>(3 * width)),
        second_columns_(scratch.take<Second>(both ? width : 0)),
        second_running_(scratch.take<Second>(both ? 3 * width : 0)) {}

  /// Two rows of scratch memory, which rows that are read in place do not need.
  Element* added() const { return added_; }
  Element* removed() const { return removed_; }

  /// row(y, buffer) returns the elements of a row of `height`, and write(y, rows, ends) takes the
  /// windows of a row, which have so many rows. Windows reach radius_x columns, less than the
  /// width, and radius_y rows to each side.
  template <class Row, class Write>
  void run(int begin, int end, int height, int radius_x, int radius_y, const Row& row,
           const Write& write) const {
    std::fill_n(zeros_, width_, Element{0});
    std::fill_n(first_columns_, width_, First{0});
    if (both_)
      std::fill_n(second_columns_, width_, Second{0});
    // The columns hold the sums of rows top to bottom − 1.
    int top = std::max(begin - radius_y, 0), bottom = top;
    for (int y = begin; y < end; ++y) {
      const int from = std::max(y - radius_y, 0), to = std::min(y + radius_y + 1, height);
      while (top < from || bottom < to) {
        const Element* const added = bottom < to ? row(bottom++, added_) : zeros_;
        const Element* const removed = top < from ? row(top++, removed_) : zeros_;
        slide_first(added, removed, width_, first_columns_);
        if (both_)
          slide_second(added, removed, width_, second_columns_);
      }
      const std::ptrdiff_t after = 2 * std::ptrdiff_t{radius_x} + 1;
      const First* const first = running_sums(first_columns_, radius_x, first_running_);
      const Second* const second =
          both_ ? running_sums(second_columns_, radius_x, second_running_) : nullptr;
      write(y, to - from, Ends{first, first + after, second, both_ ? second + after : nullptr});
    }
  }

 private:
  /// Sums a row's columns from left to right. The running sums go on for `radius` columns beyond
  /// both ends of the row, as if these columns were 0, so that windows at the edges are like all
  /// others. Returns the sum of all columns to the left of the window of sample 0.
  template <class Sum>
  const Sum* running_sums(const Sum* columns, int radius, Sum* running) const {
    std::fill_n(running, radius, Sum{0});
    add_up(columns, width_, running + radius);
    std::fill_n(running + radius + width_ + 1, radius, running[radius + width_]);
    return running;
  }

  int width_;
  bool both_;
  Element *added_, *removed_, *zeros_;
  First *first_columns_, *first_running_;
  Second *second_columns_, *second_running_;
};

}  // namespace cudavision::windows
