// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

/// Decides which frames of two streams form a pair, from their running times alone; knows neither
/// pads nor threads.
namespace cudavision {

/// The oldest frame of a stream that is neither paired nor dropped yet.
struct WaitingFrame {
  /// Running time in ns, negative before the segment begins; none if the frame has no timestamp.
  std::optional<std::int64_t> time;
  bool gap = false;  ///< it stands for a missing frame
  /// Until the next frame of its stream, in ns; GST_CLOCK_TIME_NONE if that is not known.
  GstClockTime interval = GST_CLOCK_TIME_NONE;
};

struct FrameStream {
  std::optional<WaitingFrame> frame;
  std::optional<WaitingFrame> next;  ///< the one behind it, if it is there already
  bool ended = false;                ///< no frames follow those above
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

/// Pairs each frame with the nearest one of the other stream, or with the earlier of two that are
/// equally near. max_skew: the largest difference between the running times of a pair. timed_out: a
/// frame has waited until pairing_deadline(); no further one is waited for. pair, miss, drop_left
/// and drop_right consume frames.
PairingStep next_step(const FrameStream& left, const FrameStream& right, GstClockTime max_skew,
                      bool timed_out);

/// The running time at which a frame has waited long enough for a partner; GST_CLOCK_TIME_NONE if
/// no frame with a known running time is waiting.
GstClockTime pairing_deadline(const FrameStream& left, const FrameStream& right,
                              GstClockTime max_skew);

/// duration if that is known, else that of a frame at fps_n/fps_d, else GST_CLOCK_TIME_NONE.
GstClockTime frame_interval(GstClockTime duration, int fps_n, int fps_d);

/// The property max-skew in ns if it is not negative, else half of the interval, else 20 ms.
GstClockTime max_skew_for(gint64 property, GstClockTime interval);

}  // namespace cudavision
