// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Copies planes while other threads work on the rest of the frame.

#include <cstdint>

#include "cuda/pixels/access_pattern.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision {

__device__ inline void copy_pieces(const CopyPieces* copies, int count, std::uint32_t thread,
                                   std::uint32_t threads) {
  for (int p = 0; p < count; ++p) {
    const CopyPieces& copy = copies[p];
    for (std::uint32_t i = thread; i < copy.count; i += threads) {
      const int y = static_cast<int>(i / copy.per_row);
      const int at = static_cast<int>(i % copy.per_row) * 16;
      std::uint32_t piece[4];
      load_row<1, Rows::ragged>(copy.plane.in_row(y) + at, copy.row_bytes - at, piece);
      store_row<1, Rows::ragged>(copy.plane.out_row(y) + at, copy.row_bytes - at, piece);
    }
  }
}

}  // namespace cudavision
