// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

/// Which frames of two streams belong together. Knows nothing of pads and threads.
namespace cudavision {

/// The oldest frame of one stream that has not gone anywhere yet.
struct WaitingFrame {
  /// Running time in ns, negative before the segment begins; none where the frame has no timestamp.
  std::optional<std::int64_t> time;
  bool gap = false;  ///< it stands for a missing frame
};

struct FrameStream {
  std::optional<WaitingFrame> frame;
  bool ended = false;  ///< no frames follow the one that waits
};

enum class PairingStep {
  wait,        ///< for a frame, or for an end
  pair,        ///< the two waiting frames belong together
  miss,        ///< they do, but one of them or both are missing
  drop_left,   ///< the left one has no partner
  drop_right,  ///< the right one has none
  end,         ///< no pair can form any more; what waits has no partner
};

/// max_skew: how far apart the running times of a pair may be. timed_out: the frame that waits
/// alone has done so for long enough. Every answer but wait consumes a frame or is the end.
PairingStep next_step(const FrameStream& left, const FrameStream& right, GstClockTime max_skew,
                      bool timed_out);

/// When a frame that waits alone has waited long enough, as a running time; GST_CLOCK_TIME_NONE
/// where none waits, or none whose time is known.
GstClockTime pairing_deadline(const FrameStream& left, const FrameStream& right,
                              GstClockTime max_skew);

/// The property max-skew in ns, where that is not negative; else half of duration, if that is
/// known, else half of a frame at fps_n/fps_d, else 20 ms.
GstClockTime max_skew_for(gint64 property, GstClockTime duration, int fps_n, int fps_d);

}  // namespace cudavision
