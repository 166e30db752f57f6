// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Sums over one row of a block, with two samples per word.

#include <cstdint>

#include "cuda/noise/measurement.h"

namespace cudavision::noise {

struct RowSums {
  std::uint32_t near = 0, far = 0;  ///< sums of |N| for both spacings
  std::uint32_t levels = 0, squares = 0, extremes = 0;
  bool differs = false;  ///< some level differs from the first level of the block
};

/// Sixteen samples as pairs (0, 2), (1, 3), (4, 6), (5, 7), (8, 10)… Sample block_start is the
/// first sample of the block.
struct PairedRow {
  static constexpr int block_start = 4;
  static constexpr std::uint32_t ones = 0x00010001;

  std::uint32_t pairs[8];

  PairedRow() = default;
  CUDAVISION_HOST_DEVICE explicit PairedRow(const std::uint32_t (&words)[4]) {
    for (int i = 0; i < 4; ++i) {
      pairs[2 * i] = words[i] & 0xff * ones;
      pairs[2 * i + 1] = words[i] >> 8 & 0xff * ones;
    }
  }

  /// Returns samples x and x + 2.
  CUDAVISION_HOST_DEVICE std::uint32_t at(int x) const {
    const int number = x / 4 * 2 + x % 4;
    return x % 4 < 2 ? pairs[number] : pairs[number - 2] >> 16 | pairs[number] << 16;
  }
  CUDAVISION_HOST_DEVICE std::uint32_t level(int x) const {
    const std::uint32_t pair = pairs[x / 4 * 2 + x % 2];
    return x % 4 < 2 ? pair & 0xffff : pair >> 16;
  }
  CUDAVISION_HOST_DEVICE bool is_flat() const {
    std::uint32_t different = pairs[2] ^ (pairs[2] << 16 | pairs[2] >> 16);
    for (int i = 3; i < 6; ++i)
      different |= pairs[2] ^ pairs[i];
    return different == 0;
  }
};

/// Returns the sum of |N| over the samples of a row. above and below are kSpacing rows away.
template <int kSpacing>
CUDAVISION_HOST_DEVICE inline std::uint32_t sum_of_differences(const PairedRow& above,
                                                               const PairedRow& row,
                                                               const PairedRow& below) {
  constexpr std::uint32_t ones = PairedRow::ones;
  // An offset keeps each half positive.
  PairedRow columns;
  for (int i = 0; i < 8; ++i)
    columns.pairs[i] = above.pairs[i] + below.pairs[i] - 2 * row.pairs[i] + 512 * ones;
  std::uint32_t sum = 0;
  for (int i : {0, 1, 4, 5}) {
    const int x = PairedRow::block_start + i;
    const std::uint32_t raised =
        columns.at(x - kSpacing) + columns.at(x + kSpacing) - 2 * columns.at(x) + 2048 * ones;
    const auto first = static_cast<std::int32_t>(raised & 0xffff) - 2048;
    const auto second = static_cast<std::int32_t>(raised >> 16) - 2048;
    sum +=
        static_cast<std::uint32_t>((first < 0 ? -first : first) + (second < 0 ? -second : second));
  }
  return sum;
}

CUDAVISION_HOST_DEVICE inline void sum_levels(const PairedRow& row, std::uint32_t first,
                                              RowSums& sums) {
  std::uint32_t different = 0;
  for (int i : {0, 1, 4, 5}) {
    const std::uint32_t pair = row.at(PairedRow::block_start + i);
    for (const std::uint32_t level : {pair & 0xffff, pair >> 16}) {
      sums.levels += level;
      sums.squares += level * level;
      sums.extremes += is_extreme(static_cast<int>(level)) ? 1 : 0;
    }
    different |= pair ^ first * PairedRow::ones;
  }
  sums.differs = different != 0;
}

}  // namespace cudavision::noise
