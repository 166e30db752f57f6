// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The part of a frame that a block or a warp blurs. For .cu files.

#include <cuda_runtime.h>

#include "cuda/gaussblur/arguments.h"

namespace cudavision::gaussblur {

/// A part of a plane, the work of a block or of a warp: tiles side by side and below each other.
struct WorkItem {
  int plane;
  int x;      ///< the first byte in each row
  int begin;  ///< rows
  int end;

  /// width is that of every item, in bytes.
  __device__ WorkItem(const Arguments& a, int number, int width) : plane(0) {
    while (plane + 1 < a.plane_count && number >= a.planes[plane + 1].first_item)
      ++plane;
    const Plane& p = a.planes[plane];
    const int within = number - p.first_item;
    const int below = within / p.strips;
    x = (within - below * p.strips) * width;
    begin = below * a.item_rows;
    end = min(begin + a.item_rows, p.rows);
  }
};

}  // namespace cudavision::gaussblur
