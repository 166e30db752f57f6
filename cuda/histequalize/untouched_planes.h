// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/pixels/access_pattern.h"

namespace cudavision::histequalize {

/// Enqueues copies of the planes with bytes that no kernel writes.
inline void copy_untouched_planes(Device& device, const AccessPlanner& planner,
                                  const AccessPlan& plan, const ConstFrame& in, const Frame& out) {
  if (plan.scattered())
    for (const int p : planner.mixed_planes())
      device.copy(in.planes[p], out.planes[p]);
  else
    for (int c = 0; c < plan.copy_count; ++c) {
      const CopyPieces& copy = plan.copies[c];
      device.copy({copy.plane.in, copy.row_bytes, copy.rows, copy.plane.in_pitch},
                  {copy.plane.out, copy.row_bytes, copy.rows, copy.plane.out_pitch});
    }
}

}  // namespace cudavision::histequalize
