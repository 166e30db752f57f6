// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/framepairing.h"

#include <algorithm>

namespace cudavision {
namespace {

/// Returns a negative number if the left frame is too old for the right one, a positive one if the
/// right frame is too old for the left one, and 0 if they form a pair. Frames without a timestamp
/// pair in the order of their arrival.
int compare(const WaitingFrame& left, const WaitingFrame& right, GstClockTime max_skew) {
  if (!left.time || !right.time)
    return 0;
  // The difference of two int64 may overflow int64, but not uint64.
  const auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  if (*left.time < *right.time && distance(*left.time, *right.time) > max_skew)
    return -1;
  if (*left.time > *right.time && distance(*right.time, *left.time) > max_skew)
    return 1;
  return 0;
}

}  // namespace

PairingStep next_step(const FrameStream& left, const FrameStream& right, GstClockTime max_skew,
                      bool timed_out) {
  if (left.frame && right.frame) {
    const int order = compare(*left.frame, *right.frame, max_skew);
    if (order != 0)
      return order < 0 ? PairingStep::drop_left : PairingStep::drop_right;
    return left.frame->gap || right.frame->gap ? PairingStep::miss : PairingStep::pair;
  }
  if ((!left.frame && left.ended) || (!right.frame && right.ended))
    return PairingStep::end;
  if (timed_out && left.frame)
    return PairingStep::drop_left;
  if (timed_out && right.frame)
    return PairingStep::drop_right;
  return PairingStep::wait;
}

GstClockTime pairing_deadline(const FrameStream& left, const FrameStream& right,
                              GstClockTime max_skew) {
  std::optional<std::int64_t> oldest;
  for (const FrameStream* stream : {&left, &right})
    if (stream->frame && stream->frame->time)
      oldest = oldest ? std::min(*oldest, *stream->frame->time) : *stream->frame->time;
  if (!oldest)
    return GST_CLOCK_TIME_NONE;
  const auto since = static_cast<GstClockTime>(std::max<std::int64_t>(*oldest, 0));
  // With an unlimited skew, a frame waits forever.
  return max_skew > G_MAXINT64 - since ? GST_CLOCK_TIME_NONE : since + max_skew;
}

GstClockTime max_skew_for(gint64 property, GstClockTime duration, int fps_n, int fps_d) {
  if (property >= 0)
    return static_cast<GstClockTime>(property);
  if (GST_CLOCK_TIME_IS_VALID(duration) && duration > 0)
    return duration / 2;
  if (fps_n > 0 && fps_d > 0)
    return gst_util_uint64_scale(GST_SECOND, static_cast<guint64>(fps_d),
                                 2 * static_cast<guint64>(fps_n));
  return 20 * GST_MSECOND;
}

}  // namespace cudavision
