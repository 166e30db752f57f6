// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/frame.h"

namespace cudavision {

/// Returns true if every byte of the plane belongs to a channel c with selected[c].
inline bool fill_plane(const FrameLayout& layout, int plane, const bool* selected) {
  int count = 0;
  unsigned offsets = 0;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != plane || !selected[c])
      continue;
    ++count;
    offsets |= channel.offset < FrameLayout::max_channels ? 1u << channel.offset : 0;
  }
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane == plane && selected[c] &&
        (channel.step != count || channel.height != layout.planes[plane].rows ||
         channel.width * count * layout.sample_bytes() != layout.planes[plane].row_bytes))
      return false;
  }
  return count > 0 && offsets == (1u << count) - 1;
}

}  // namespace cudavision
