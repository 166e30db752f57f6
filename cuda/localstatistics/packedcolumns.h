// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Column sums that a thread of running_kernel keeps in registers. Also built for tests.

#include <cstdint>

#include "cuda/pixels/pixel_pack.h"

namespace cudavision::localstatistics {

constexpr int packed_columns = 16;

/// 16-bit sums of 16 adjacent columns of bytes, for windows of up to 257 rows. A row is four words.
struct PackedColumns {
  std::uint32_t pairs[packed_columns / 2]{};  ///< each for two adjacent columns

  /// Adds two rows at once.
  CUDAVISION_HOST_DEVICE void add(const std::uint32_t* row, const std::uint32_t* other) {
    CUDAVISION_UNROLL
    for (int w = 0; w < packed_columns / 4; ++w) {
      pairs[2 * w] += select_bytes(row[w], 0, 0x4140) + select_bytes(other[w], 0, 0x4140);
      pairs[2 * w + 1] += select_bytes(row[w], 0, 0x4342) + select_bytes(other[w], 0, 0x4342);
    }
  }
  CUDAVISION_HOST_DEVICE void move(const std::uint32_t* gained, const std::uint32_t* lost) {
    CUDAVISION_UNROLL
    for (int w = 0; w < packed_columns / 4; ++w) {
      pairs[2 * w] += select_bytes(gained[w], 0, 0x4140) - select_bytes(lost[w], 0, 0x4140);
      pairs[2 * w + 1] += select_bytes(gained[w], 0, 0x4342) - select_bytes(lost[w], 0, 0x4342);
    }
  }

  /// Returns `sum` plus the sums of all columns whose weight byte is 1.
  CUDAVISION_HOST_DEVICE static std::uint32_t add_weighted(
      const std::uint32_t (&pairs)[packed_columns / 2], const std::uint32_t (&weights)[4],
      std::uint32_t sum) {
    CUDAVISION_UNROLL
    for (int i = 0; i < packed_columns / 2; ++i)
      sum = i % 2 == 0 ? dot_low_bytes(pairs[i], weights[i / 2], sum)
                       : dot_high_bytes(pairs[i], weights[i / 2], sum);
    return sum;
  }
};

}  // namespace cudavision::localstatistics
