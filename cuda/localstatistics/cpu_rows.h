// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The inner loops of the CPU backend, each over one row. They have no branches and no special cases
// at the edges, so that the compiler vectorises them.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/localstatistics/arithmetic.h"

namespace cudavision::localstatistics {

/// Adds one row to the sums of the columns and subtracts another.
template <class Value>
CUDAVISION_TARGET_CLONES void slide_sums(const Value* added, const Value* removed, int width,
                                         std::uint32_t* __restrict columns) {
  for (int x = 0; x < width; ++x)
    columns[x] += std::uint32_t{added[x]} - removed[x];
}
template <class Value>
CUDAVISION_TARGET_CLONES void slide_squares(const Value* added, const Value* removed, int width,
                                            std::uint64_t* __restrict columns) {
  for (int x = 0; x < width; ++x)
    columns[x] +=
        std::uint64_t{std::uint32_t{added[x]} * added[x]} - std::uint32_t{removed[x]} * removed[x];
}

/// Writes the area of each pixel's window and its inverse. The windows have `rows` rows and reach
/// `reach` columns to each side, as far as there are any.
template <class Real>
CUDAVISION_TARGET_CLONES void measure_windows(int width, int reach, std::uint32_t rows,
                                              std::uint32_t* __restrict areas,
                                              Real* __restrict inverses) {
  for (int x = 0; x < width; ++x) {
    const int columns = std::min(x + reach, width - 1) - std::max(x - reach, 0) + 1;
    areas[x] = rows * static_cast<std::uint32_t>(columns);
    inverses[x] = Real{1} / static_cast<Real>(areas[x]);
  }
}

/// The windows of a row's pixels. A window's sum is the difference of two running sums.
template <class Window>
struct RowWindows {
  using Sum = typename Window::Sum;

  const Sum *sums_before, *sums_after;
  const std::uint64_t *squares_before, *squares_after;  ///< for the outputs that need squares
  const std::uint32_t* areas;
  const typename Window::Real* inverses;

  Sum sum(int x) const { return sums_after[x] - sums_before[x]; }
  typename Window::Variance variance(int x) const {
    return scaled_variance<Window>(squares_after[x] - squares_before[x], sum(x), areas[x]);
  }
};

/// Writes level(x) for each x of a row.
template <class Sample, class Level>
CUDAVISION_TARGET_CLONES void write_levels(int width, std::uint8_t* __restrict out, Level level) {
  for (int x = 0; x < width; ++x) {
    const auto sample = static_cast<Sample>(level(x));
    std::memcpy(out + sizeof sample * static_cast<std::size_t>(x), &sample, sizeof sample);
  }
}

}  // namespace cudavision::localstatistics
