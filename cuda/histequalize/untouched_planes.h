// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/pixels/access_pattern.h"

namespace cudavision::histequalize {

/// Enqueues copies of the planes that have bytes which no kernel writes.
inline void copy_untouched_planes(Device& device, const PictureMaker& maker, const Picture& picture,
                                  const ConstFrame& in, const Frame& out) {
  if (picture.scattered())
    for (const int p : maker.mixed_planes())
      device.copy(in.planes[p], out.planes[p]);
  else
    for (int c = 0; c < picture.copy_count; ++c) {
      const CopyPieces& copy = picture.copies[c];
      device.copy({copy.plane.in, copy.row_bytes, copy.rows, copy.plane.in_pitch},
                  {copy.plane.out, copy.row_bytes, copy.rows, copy.plane.out_pitch});
    }
}

}  // namespace cudavision::histequalize
