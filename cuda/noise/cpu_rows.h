// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Inner loops of the CPU backend, over rows of 8-bit levels.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "cuda/core/parallel.h"
#include "cuda/noise/measurement.h"

namespace cudavision::noise {

// A constant spacing helps the compiler to vectorise the loop.
template <int kSpacing>
CUDAVISION_TARGET_CLONES void add_differences(const std::uint8_t* above, const std::uint8_t* row,
                                              const std::uint8_t* below, int width,
                                              std::uint16_t* __restrict sums) {
  const auto column = [=](int x) __attribute__((always_inline)) {
    return static_cast<std::int16_t>(above[x] - 2 * row[x] + below[x]);
  };
  for (int x = 0; x < width; ++x) {
    const auto difference =
        static_cast<std::int16_t>(column(x - kSpacing) - 2 * column(x) + column(x + kSpacing));
    sums[x] = static_cast<std::uint16_t>(sums[x] + std::abs(difference));
  }
}

/// Adds |N| with a spacing of 1 or 3 to sums. The rows have `spacing` more pixels at both ends.
inline void add_second_differences(const std::uint8_t* above, const std::uint8_t* row,
                                   const std::uint8_t* below, int spacing, int width,
                                   std::uint16_t* sums) {
  const auto add =
      spacing == near_spacing ? add_differences<near_spacing> : add_differences<far_spacing>;
  add(above, row, below, width, sums);
}

CUDAVISION_TARGET_CLONES
inline void count_extremes(const std::uint8_t* row, int width, std::uint32_t* __restrict extremes) {
  for (int x = 0; x < width; ++x)
    extremes[x] += is_extreme(row[x]) ? 1 : 0;
}

CUDAVISION_TARGET_CLONES
inline void find_differences(const std::uint8_t* row, const std::uint8_t* first, int width,
                             std::uint8_t* __restrict different) {
  for (int x = 0; x < width; ++x)
    different[x] = static_cast<std::uint8_t>(different[x] | (row[x] ^ first[x]));
}

template <class Number>
std::uint32_t sum_of_block(const Number* columns) {
  std::uint32_t sum = 0;
  for (int i = 0; i < block_side; ++i)
    sum += columns[i];
  return sum;
}

inline bool is_flat(const std::uint8_t* row) {
  return std::all_of(row, row + block_side, [&](std::uint8_t level) { return level == *row; });
}

/// Returns true if one of four lines has equal levels: the row far_spacing above or below the block
/// at column x, or the column far_spacing before or after the block. above and below are these
/// rows; `different` is 0 for columns with equal levels.
inline bool is_at_bar(const std::uint8_t* above, const std::uint8_t* below,
                      const std::uint8_t* different, int x) {
  return different[x - far_spacing] == 0 || different[x + block_side - 1 + far_spacing] == 0 ||
         is_flat(above + x) || is_flat(below + x);
}

}  // namespace cudavision::noise
