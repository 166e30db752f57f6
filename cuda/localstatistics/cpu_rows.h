// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The inner loops of the CPU backend, each over one row. They have no branches and no special cases
// at the edges, so that the compiler vectorises them.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cuda/localstatistics/arithmetic.h"
#include "cuda/windows/cpu.h"

namespace cudavision::localstatistics {

/// Writes the area of each pixel's window and its inverse. The windows have `rows` rows and reach
/// `radius` columns to each side, as far as there are any.
template <class Real>
CUDAVISION_TARGET_CLONES void measure_windows(int width, int radius, std::uint32_t rows,
                                              std::uint32_t* __restrict areas,
                                              Real* __restrict inverses) {
  for (int x = 0; x < width; ++x) {
    const int columns = std::min(x + radius, width - 1) - std::max(x - radius, 0) + 1;
    areas[x] = rows * static_cast<std::uint32_t>(columns);
    inverses[x] = Real{1} / static_cast<Real>(areas[x]);
  }
}

/// The windows of a row's pixels.
template <class Window>
struct RowWindows {
  windows::WindowEnds<typename Window::Sum, std::uint64_t> ends;
  const std::uint32_t* areas;
  const typename Window::Real* inverses;

  typename Window::Sum sum(int x) const { return ends.first(x); }
  /// For the outputs that need squares.
  typename Window::Variance variance(int x) const {
    return scaled_variance<Window>(ends.second(x), sum(x), areas[x]);
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
