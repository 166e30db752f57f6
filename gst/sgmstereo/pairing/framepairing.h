// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

/// Pairs frames of two streams by their running times, without pads or threads.
namespace cudavision {

/// Returns |a − b|, which may exceed int64.
std::uint64_t time_between(std::int64_t a, std::int64_t b);

/// The oldest frame of a stream that is neither paired nor dropped yet.
struct WaitingFrame {
  /// Running time in ns, negative before the segment begins; none if the frame has no timestamp.
  std::optional<std::int64_t> time;
  bool gap = false;  ///< the frame is missing
  /// Time until the next frame of the stream, in ns; GST_CLOCK_TIME_NONE if that is unknown.
  GstClockTime interval = GST_CLOCK_TIME_NONE;
};

struct FrameStream {
  std::optional<WaitingFrame> frame;
  std::optional<WaitingFrame> next;  ///< the next frame, if it has arrived
  bool ended = false;                ///< no more frames will arrive
};

enum class PairingStep {
  wait,        ///< for a frame or EOS
  pair,        ///< the two waiting frames form a pair
  miss,        ///< a pair in which at least one frame is missing
  drop_left,   ///< the left frame has no partner
  drop_right,  ///< the right frame has no partner
  look_left,   ///< wait for the next left frame, which may be nearer to the right frame
  look_right,  ///< wait for the next right frame, which may be nearer to the left frame
  end,         ///< no further pair can form; a waiting frame has no partner
};

/// Returns the next step. Each frame pairs with the nearest frame of the other stream, or the
/// earlier of two equally near frames. max_skew is the largest difference between the running times
/// of a pair. timed_out is true if a frame has waited until pairing_deadline(), so that nothing
/// else is waited for. The steps pair, miss, drop_left and drop_right consume frames.
PairingStep next_step(const FrameStream& left, const FrameStream& right, GstClockTime max_skew,
                      bool timed_out);

/// With a larger max_skew, frames wait forever.
constexpr GstClockTime longest_wait = 3600 * GST_SECOND;

/// Returns the running time until which frames wait for a partner. GST_CLOCK_TIME_NONE: no frame
/// with a running time waits, or the wait has no end. GStreamer can add base time and latency to
/// other results.
GstClockTime pairing_deadline(const FrameStream& left, const FrameStream& right,
                              GstClockTime max_skew);

/// Longer durations are ignored: they are usually the result of a subtraction that wrapped.
constexpr GstClockTime longest_duration = 10 * GST_SECOND;

/// Returns duration, if known and at most longest_duration, or 1/framerate, or GST_CLOCK_TIME_NONE.
GstClockTime frame_interval(GstClockTime duration, int fps_n, int fps_d);

/// Returns the property max-skew in ns unless it is negative, or half of the interval, or 20 ms.
GstClockTime max_skew_for(gint64 property, GstClockTime interval);

}  // namespace cudavision
