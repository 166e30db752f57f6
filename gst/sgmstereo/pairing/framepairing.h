// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

/// Decides which frames of two streams form a pair, from their running times alone. This code does
/// not depend on pads or threads.
namespace cudavision {

/// Returns how far apart two running times are, which may be more than an int64 holds.
std::uint64_t time_between(std::int64_t a, std::int64_t b);

/// The oldest frame of a stream that is neither paired nor dropped yet.
struct WaitingFrame {
  /// Running time in ns, negative before the segment begins; none if the frame has no timestamp.
  std::optional<std::int64_t> time;
  bool gap = false;  ///< true if it stands for a missing frame
  /// Time until the next frame of the stream, in ns; GST_CLOCK_TIME_NONE if that is unknown.
  GstClockTime interval = GST_CLOCK_TIME_NONE;
};

struct FrameStream {
  std::optional<WaitingFrame> frame;
  std::optional<WaitingFrame> next;  ///< the frame after it, if that has arrived
  bool ended = false;                ///< true if no frames follow these
};

enum class PairingStep {
  wait,        ///< for a frame or EOS
  pair,        ///< the two waiting frames form a pair
  miss,        ///< they form a pair in which one frame is missing, or both
  drop_left,   ///< the left frame has no partner
  drop_right,  ///< the right frame has no partner
  look_left,   ///< the two may form a pair, but the next left frame may be nearer to the right one
  look_right,  ///< the same the other way round
  end,         ///< no further pair can form; a waiting frame has no partner
};

/// Returns the next step. Each frame pairs with the nearest frame of the other stream, or with the
/// earlier one of two that are equally near. max_skew is the largest difference between the running
/// times of a pair. timed_out is true if a frame has waited until pairing_deadline(), so that no
/// further frame is waited for. The steps pair, miss, drop_left and drop_right consume frames.
PairingStep next_step(const FrameStream& left, const FrameStream& right, GstClockTime max_skew,
                      bool timed_out);

/// With a larger max_skew, frames wait forever.
constexpr GstClockTime longest_wait = 3600 * GST_SECOND;

/// Returns the running time at which a frame has waited long enough for a partner. Returns
/// GST_CLOCK_TIME_NONE if no frame with a known running time is waiting, or if it waits forever.
/// GStreamer can add its base time and a latency to any other result.
GstClockTime pairing_deadline(const FrameStream& left, const FrameStream& right,
                              GstClockTime max_skew);

/// A buffer whose duration is longer is not believed, because such durations are more often the
/// result of a subtraction that has wrapped.
constexpr GstClockTime longest_duration = 10 * GST_SECOND;

/// Returns duration if that is known and at most longest_duration, else the duration of a frame at
/// fps_n/fps_d if that is known, else GST_CLOCK_TIME_NONE.
GstClockTime frame_interval(GstClockTime duration, int fps_n, int fps_d);

/// Returns the property max-skew in ns if it is not negative, else half of the interval between
/// frames if that is known, else 20 ms.
GstClockTime max_skew_for(gint64 property, GstClockTime interval);

}  // namespace cudavision
