// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/framepairing.h"

#include <algorithm>

namespace cudavision {
namespace {

/// 73 years. Frames with a later running time wait forever, because GStreamer computes the sum of
/// deadline, base time (with a real-time clock, the time since 1970) and latency in an int64.
constexpr GstClockTime latest_deadline = G_MAXINT64 / 4;

enum class Older { pairs, is_dropped, waits_for_successor };

Older judge(const FrameStream& older, const FrameStream& newer, GstClockTime max_skew,
            bool timed_out) {
  const std::int64_t newer_time = *newer.frame->time;
  const std::uint64_t apart = time_between(*older.frame->time, newer_time);
  if (apart > max_skew)
    return Older::is_dropped;
  // The successor, an interval later, may be nearer to the newer frame.
  const GstClockTime interval = older.frame->interval, newer_interval = newer.frame->interval;
  if (apart <= (GST_CLOCK_TIME_IS_VALID(interval) ? interval / 2 : 0))
    return Older::pairs;
  if (!older.next)
    return older.ended || timed_out ? Older::pairs : Older::waits_for_successor;
  if (!older.next->time || time_between(*older.next->time, newer_time) >= apart)
    return Older::pairs;
  // If the successor is even nearer to the frame after the newer frame, the older frame pairs.
  return *older.next->time <= newer_time || !GST_CLOCK_TIME_IS_VALID(newer_interval) ||
                 time_between(*older.next->time, newer_time) <= newer_interval / 2
             ? Older::is_dropped
             : Older::pairs;
}

PairingStep step_for_two(const FrameStream& left, const FrameStream& right, GstClockTime max_skew,
                         bool timed_out) {
  // Frames without a running time pair in order of arrival.
  if (left.frame->time && right.frame->time) {
    const bool left_is_older = *left.frame->time < *right.frame->time;
    const Older older = left_is_older ? judge(left, right, max_skew, timed_out)
                                      : judge(right, left, max_skew, timed_out);
    if (older == Older::is_dropped)
      return left_is_older ? PairingStep::drop_left : PairingStep::drop_right;
    if (older == Older::waits_for_successor)
      return left_is_older ? PairingStep::look_left : PairingStep::look_right;
  }
  return left.frame->gap || right.frame->gap ? PairingStep::miss : PairingStep::pair;
}

}  // namespace

std::uint64_t time_between(std::int64_t a, std::int64_t b) {
  const auto [from, to] = std::minmax(a, b);
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

PairingStep next_step(const FrameStream& left, const FrameStream& right, GstClockTime max_skew,
                      bool timed_out) {
  if (left.frame && right.frame)
    return step_for_two(left, right, max_skew, timed_out);
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
  return max_skew > longest_wait || since > latest_deadline ? GST_CLOCK_TIME_NONE
                                                            : since + max_skew;
}

GstClockTime frame_interval(GstClockTime duration, int fps_n, int fps_d) {
  if (duration > 0 && duration <= longest_duration)
    return duration;
  if (fps_n > 0 && fps_d > 0)
    return gst_util_uint64_scale(GST_SECOND, static_cast<guint64>(fps_d),
                                 static_cast<guint64>(fps_n));
  return GST_CLOCK_TIME_NONE;
}

GstClockTime max_skew_for(gint64 property, GstClockTime interval) {
  if (property >= 0)
    return static_cast<GstClockTime>(property);
  return GST_CLOCK_TIME_IS_VALID(interval) ? interval / 2 : 20 * GST_MSECOND;
}

}  // namespace cudavision
