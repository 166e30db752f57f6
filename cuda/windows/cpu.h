// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Window sums on the CPU. Each band keeps the sum of every column over the rows of the window and
// updates it from row to row. The sum over a window is the difference of two running sums of the
// column sums. The inner loops have no branches and no special cases at the edges, so that the
// compiler vectorises them.

#include <algorithm>
#include <cstdint>

#include "cuda/core/parallel.h"
#include "cuda/core/runningsums.h"

namespace cudavision::windows {

/// Value for the first or second sum: a sample or its square, or the lower or upper half of a word.
template <bool kSecond, class Element>
constexpr std::uint32_t addend(Element element) {
  if constexpr (sizeof(Element) == 4)
    return kSecond ? element >> 16 : element & 0xffff;
  else
    return kSecond ? std::uint32_t{element} * element : element;
}

/// Moves the column sums down by a row: adds the row `added` and subtracts the row `removed`.
template <bool kSecond, class Sum, class Element>
CUDAVISION_TARGET_CLONES void slide(const Element* added, const Element* removed, int width,
                                    Sum* __restrict columns) {
  for (int x = 0; x < width; ++x)
    columns[x] += Sum{addend<kSecond>(added[x])} - addend<kSecond>(removed[x]);
}

/// Running sums at both ends of the windows of a row. Element x of first_before and second_before
/// is the sum to the left of window x; in first_after and second_after, window x is included.
template <class First, class Second>
struct WindowEnds {
  const First *first_before, *first_after;
  const Second *second_before, *second_after;

  First first(int x) const { return first_after[x] - first_before[x]; }
  Second second(int x) const { return second_after[x] - second_before[x]; }

  WindowEnds from(int x) const {
    return {first_before + x, first_after + x, second_before + x, second_after + x};
  }
};

/// Sums the windows of a band of rows, in scratch memory.
template <class Element, class First, class Second>
class WindowRows {
 public:
  using Ends = WindowEnds<First, Second>;

  /// both: also compute the second sums.
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

  /// Scratch rows for the function `row` of run(). Unused if `row` returns rows of the frame.
  Element* added() const { return added_; }
  Element* removed() const { return removed_; }

  /// row(y, buffer) returns the elements of row y. write(y, rows, ends) receives the sums of the
  /// windows around row y, which have `rows` rows after clipping. radius_x must be below the width.
  template <class Row, class Write>
  void run(int begin, int end, int height, int radius_x, int radius_y, const Row& row,
           const Write& write) const {
    std::fill_n(zeros_, width_, Element{0});
    std::fill_n(first_columns_, width_, First{0});
    if (both_)
      std::fill_n(second_columns_, width_, Second{0});
    // The column sums cover the rows `top` to `bottom` − 1.
    int top = std::max(begin - radius_y, 0), bottom = top;
    for (int y = begin; y < end; ++y) {
      const int from = std::max(y - radius_y, 0), to = std::min(y + radius_y + 1, height);
      while (top < from || bottom < to) {
        const Element* const added = bottom < to ? row(bottom++, added_) : zeros_;
        const Element* const removed = top < from ? row(top++, removed_) : zeros_;
        slide<false>(added, removed, width_, first_columns_);
        if (both_)
          slide<true>(added, removed, width_, second_columns_);
      }
      const std::ptrdiff_t after = 2 * std::ptrdiff_t{radius_x} + 1;
      const First* const first = running_sums(first_columns_, radius_x, first_running_);
      const Second* const second =
          both_ ? running_sums(second_columns_, radius_x, second_running_) : nullptr;
      write(y, to - from, Ends{first, first + after, second, both_ ? second + after : nullptr});
    }
  }

 private:
  /// Returns running sums with `radius` columns of zeros at both ends of the row, so that windows
  /// at the edges need no special case. Element x is the sum up to the left end of window x.
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
