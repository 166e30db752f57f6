// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

namespace cudavision {

/// Unknown times are GST_CLOCK_TIME_NONE.
struct FrameTimes {
  GstClockTime timestamp = GST_CLOCK_TIME_NONE;
  GstClockTime stream_time = GST_CLOCK_TIME_NONE;
  GstClockTime running_time = GST_CLOCK_TIME_NONE;
  GstClockTime duration = GST_CLOCK_TIME_NONE;
};

inline FrameTimes frame_times(const GstSegment& segment, const GstBuffer* buffer) {
  FrameTimes times;
  times.timestamp = GST_BUFFER_PTS(buffer);
  times.duration = GST_BUFFER_DURATION(buffer);
  if (segment.format == GST_FORMAT_TIME) {
    times.stream_time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, times.timestamp);
    times.running_time = gst_segment_to_running_time(&segment, GST_FORMAT_TIME, times.timestamp);
  }
  return times;
}

/// Returns the duration of `frames` frames. Without a framerate, assumes 25 frames per second.
inline GstClockTime duration_of(guint64 frames, const GstVideoInfo& video) {
  const bool known = video.fps_n > 0;
  return gst_util_uint64_scale(frames * GST_SECOND, static_cast<guint64>(known ? video.fps_d : 1),
                               static_cast<guint64>(known ? video.fps_n : 25));
}

struct FrameInfo {
  FrameTimes times;
  /// True if even and odd rows are two fields, taken at different times.
  bool interlaced = false;
  GstBuffer* buffer = nullptr;  ///< the buffer whose metas are read
};

/// Returns true for an empty buffer with the GAP flag, by which GStreamer marks a missing frame.
inline bool is_missing_frame(GstBuffer* buffer) {
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size(buffer) == 0;
}

inline bool is_interlaced(const GstVideoInfo& video, const GstBuffer* buffer) {
  const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(&video);
  return mode == GST_VIDEO_INTERLACE_MODE_INTERLEAVED ||
         (mode == GST_VIDEO_INTERLACE_MODE_MIXED &&
          GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED));
}

}  // namespace cudavision
