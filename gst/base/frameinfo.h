// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "gst/base/frametimes.h"

namespace cudavision {

/// What an element is told of a frame besides its pixels.
struct FrameInfo {
  FrameTimes times;
  /// The even rows and the odd ones were taken at two moments: two pictures, the fields.
  bool interlaced = false;
};

/// video: of the buffer's caps.
inline bool is_interlaced(const GstVideoInfo& video, const GstBuffer* buffer) {
  switch (GST_VIDEO_INFO_INTERLACE_MODE(&video)) {
    case GST_VIDEO_INTERLACE_MODE_INTERLEAVED:
      return true;
    case GST_VIDEO_INTERLACE_MODE_MIXED:
      return GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
    default:
      return false;
  }
}

}  // namespace cudavision
