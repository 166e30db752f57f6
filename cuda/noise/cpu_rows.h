// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Inner loops of the CPU's noise measurements, over rows of levels of 8 bits.

#include <algorithm>
#include <cstdint>

#include "cuda/noise/blocks.h"
#include "cuda/noise/spacings.h"

namespace cudavision::noise {

/// sums[x] += |N(x)| with spacing 1 or 3. The rows have as many more pixels at both ends.
void add_second_differences(const std::uint8_t* above, const std::uint8_t* row,
                            const std::uint8_t* below, int spacing, int width, std::uint16_t* sums);

void count_extremes(const std::uint8_t* row, int width, std::uint32_t* extremes);

void add_levels(const std::uint8_t* row, int width, std::uint16_t* sums);

void add_squares(const std::uint8_t* row, int width, std::uint32_t* sums);

/// different[x] |= row[x] ^ first[x].
void find_differences(const std::uint8_t* row, const std::uint8_t* first, int width,
                      std::uint8_t* different);

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

/// True if a line far_spacing beyond the block at column x has equal levels. above and below are
/// the rows there; `different` is 0 for columns with equal levels.
inline bool is_at_bar(const std::uint8_t* above, const std::uint8_t* below,
                      const std::uint8_t* different, int x) {
  return different[x - far_spacing] == 0 || different[x + block_side - 1 + far_spacing] == 0 ||
         is_flat(above + x) || is_flat(below + x);
}

}  // namespace cudavision::noise
