// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "gst/core/frameinfo.h"

namespace cudavision {

/// Measures the time between successive frames.
class FrameClock {
 public:
  explicit FrameClock(const GstVideoInfo& video) : interval_(duration_of(1, video)) {}

  /// Returns the running time since the last frame, or 0 if running time has gone backwards. If
  /// either running time is unknown, returns the frame's duration. If the duration is unknown,
  /// returns the interval of the caps' framerate, or 40 ms without a framerate.
  GstClockTime elapsed(const FrameTimes& times) {
    const GstClockTime last = last_;
    last_ = times.running_time;
    if (GST_CLOCK_TIME_IS_VALID(last) && GST_CLOCK_TIME_IS_VALID(last_))
      return last_ > last ? last_ - last : 0;
    return GST_CLOCK_TIME_IS_VALID(times.duration) ? times.duration : interval_;
  }

  void reset() { last_ = GST_CLOCK_TIME_NONE; }

 private:
  GstClockTime interval_;
  GstClockTime last_ = GST_CLOCK_TIME_NONE;  ///< running time of the last frame
};

}  // namespace cudavision
