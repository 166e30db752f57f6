// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/gaussblur/arguments.h"

namespace cudavision::gaussblur {

/// A rectangle of tiles of a plane, blurred by a block or a warp.
struct WorkItem {
  int plane;
  int x;      ///< first byte of each row
  int begin;  ///< rows
  int end;

  /// width is in bytes. everywhere equals a.everywhere, but may be a compile-time constant.
  __device__ WorkItem(const Arguments& a, int number, int width, bool everywhere)
      : plane(0), x(0), begin(0) {
    while (plane + 1 < a.plane_count && number >= a.planes[plane + 1].first_item)
      ++plane;
    const Plane& p = a.planes[plane];
    int within = number - p.first_item;
    end = p.rows;
    if (!everywhere) {
      const int cell = within / p.cell_items;
      within -= cell * p.cell_items;
      const regions::NumberedCells::Origin origin = a.active[cell];
      x = first_byte_of_cell(origin.x, p);
      begin = origin.y / p.row_pixels;
      end = min(end, begin + p.cell_rows);
    }
    const int below = within / p.strips;
    x += (within - below * p.strips) * width;
    begin += below * a.item_rows;
    end = min(end, begin + a.item_rows);
  }

  /// Returns false for items of a cell that are outside the plane.
  __device__ bool is_in_plane(const Arguments& a) const {
    return begin < end && x < a.planes[plane].row_bytes;
  }
};

__device__ inline bool is_needed(const Arguments& a, int number, int width, bool everywhere) {
  return number < a.item_count && (everywhere || WorkItem(a, number, width, false).is_in_plane(a));
}

/// Waits for earlier launches. If only active cells are blurred, the next launch may start at once.
__device__ inline void begin_item(bool everywhere) {
  grid_dependency_wait();
  if (!everywhere)
    launch_dependents();
}

/// Waits for earlier launches, then lets the next one start. Before this call, a block must not
/// access memory that earlier launches write.
__device__ inline void take_over() {
  grid_dependency_wait();
  launch_dependents();
}

}  // namespace cudavision::gaussblur
