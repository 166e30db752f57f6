// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The part of a frame that a block or a warp blurs. For .cu files.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
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

  /// Returns true if some of the item's results are needed.
  __device__ bool is_active(const Arguments& a, int width) const {
    if (a.everywhere)
      return true;
    const Plane& p = a.planes[plane];
    const int last = min(x + width, p.row_bytes) - 1;
    return a.active.touch({x / p.period * p.period_pixels, begin * p.row_pixels,
                           (last / p.period + 1) * p.period_pixels, end * p.row_pixels});
  }
};

/// Returns true if there is a work item of that number, and some of its results are needed.
__device__ inline bool is_needed(const Arguments& a, int number, int width) {
  return number < a.item_count && WorkItem(a, number, width).is_active(a, width);
}

/// Waits for the earlier launches. Where little of the frame is blurred, the next launch may start
/// at once, to use the rest of the GPU.
__device__ inline void begin_item(const Arguments& a) {
  grid_dependency_wait();
  if (!a.everywhere)
    launch_dependents();
}

/// Ends a block or a warp without work.
__device__ inline void skip_item() {
  grid_dependency_wait();
  launch_dependents();
}

}  // namespace cudavision::gaussblur
