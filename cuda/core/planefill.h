// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/frame.h"

namespace cudavision {

/// Returns true if the channels c with selected[c] contain every byte of the plane.
inline bool covers_plane(const FrameLayout& layout, int plane, const bool* selected) {
  int count = 0, step = 0;
  unsigned offsets = 0;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != plane || !selected[c])
      continue;
    if ((count++ > 0 && channel.step != step) || channel.height != layout.planes[plane].rows ||
        1LL * channel.width * channel.step * layout.sample_bytes() !=
            layout.planes[plane].row_bytes)
      return false;
    step = channel.step;
    offsets |= channel.offset < FrameLayout::max_channels ? 1u << channel.offset : 0;
  }
  return count > 0 && step == count && offsets == (1u << count) - 1;
}

}  // namespace cudavision
