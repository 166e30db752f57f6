// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

/// Pairs frames of two streams by their running times, without pads or threads.
namespace cudavision {

std::uint64_t time_between(std::int64_t a, std::int64_t b);

/// A frame that is neither paired nor dropped yet.
struct WaitingFrame {
  /// Running time in ns, negative before the segment; nullopt if it is unknown.
  std::optional<std::int64_t> time;
  bool gap = false;                             ///< a GAP buffer: the camera has no picture
  GstClockTime interval = GST_CLOCK_TIME_NONE;  ///< time until the stream's next frame, if known
};

struct FrameStream {
  std::optional<WaitingFrame> frame;  ///< the oldest frame
  std::optional<WaitingFrame> next;   ///< the next frame, if it has arrived
  bool ended = false;                 ///< no more frames will arrive
};

enum class PairingStep {
  wait,        ///< wait for a frame or EOS
  pair,        ///< the two waiting frames form a pair
  miss,        ///< like pair, but at least one frame is a GAP buffer
  drop_left,   ///< the left frame has no partner
  drop_right,  ///< the right frame has no partner
  look_left,   ///< wait for the next left frame, which may be nearer to the right frame
  look_right,  ///< wait for the next right frame, which may be nearer to the left frame
  end,         ///< no further pair can form
};

/// Returns the next step. Frames pair with the nearest frame of the other stream, or the earlier of
/// two equally near frames; without running times, in order of arrival. max_skew limits the time
/// between paired frames. If timed_out is true, pairing_deadline() has passed, and no step waits.
PairingStep next_step(const FrameStream& left, const FrameStream& right, GstClockTime max_skew,
                      bool timed_out);

/// Frames wait forever if max_skew is larger.
constexpr GstClockTime longest_wait = 3600 * GST_SECOND;

/// Returns the running time until which frames wait for a partner, or GST_CLOCK_TIME_NONE if no
/// frame with a running time waits, or if frames wait forever.
GstClockTime pairing_deadline(const FrameStream& left, const FrameStream& right,
                              GstClockTime max_skew);

/// Longer durations are ignored, because most of them come from a subtraction that wrapped.
constexpr GstClockTime longest_duration = 10 * GST_SECOND;

/// Returns the duration if it is valid, 1/framerate if it is known, or GST_CLOCK_TIME_NONE.
GstClockTime frame_interval(GstClockTime duration, int fps_n, int fps_d);

/// Returns `property` if it is not −1, half of the interval if the interval is known, or 20 ms.
GstClockTime max_skew_for(gint64 property, GstClockTime interval);

}  // namespace cudavision
