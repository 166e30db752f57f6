// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/framepairing.h"

#include <algorithm>

namespace cudavision {
namespace {

/// Frames with a later running time (73 years) wait forever. GStreamer adds deadline, base time and
/// latency in an int64; a base time that counts from 1970 is less than 57 years.
constexpr GstClockTime latest_deadline = G_MAXINT64 / 4;

struct Candidates {
  const FrameStream& older;
  const FrameStream& newer;

  std::uint64_t apart() const { return time_between(*older.frame->time, *newer.frame->time); }

  /// False if the older frame's successor is too late to be nearer to the newer frame.
  bool successor_may_be_nearer() const {
    const GstClockTime interval = older.frame->interval;
    return apart() > (GST_CLOCK_TIME_IS_VALID(interval) ? interval / 2 : 0);
  }

  /// True if the older frame's successor should be the newer frame's partner.
  bool successor_is_nearer() const {
    if (!older.next->time)
      return false;
    const std::int64_t next = *older.next->time, newer_time = *newer.frame->time;
    if (time_between(next, newer_time) >= apart())
      return false;
    // The successor itself may be nearer to the frame after the newer one.
    const GstClockTime interval = newer.frame->interval;
    if (next <= newer_time || !GST_CLOCK_TIME_IS_VALID(interval))
      return true;
    return time_between(next, newer_time) <= interval / 2;
  }
};

enum class Older { pairs, is_dropped, waits_for_successor };

Older judge(const Candidates& candidates, GstClockTime max_skew, bool timed_out) {
  if (candidates.apart() > max_skew)
    return Older::is_dropped;
  if (!candidates.successor_may_be_nearer())
    return Older::pairs;
  if (candidates.older.next)
    return candidates.successor_is_nearer() ? Older::is_dropped : Older::pairs;
  return candidates.older.ended || timed_out ? Older::pairs : Older::waits_for_successor;
}

PairingStep step_for_two(const FrameStream& left, const FrameStream& right, GstClockTime max_skew,
                         bool timed_out) {
  // Frames without a timestamp pair in the order of their arrival.
  if (left.frame->time && right.frame->time) {
    const bool left_is_older = *left.frame->time < *right.frame->time;
    const Candidates candidates = left_is_older ? Candidates{left, right} : Candidates{right, left};
    switch (judge(candidates, max_skew, timed_out)) {
      case Older::is_dropped:
        return left_is_older ? PairingStep::drop_left : PairingStep::drop_right;
      case Older::waits_for_successor:
        return left_is_older ? PairingStep::look_left : PairingStep::look_right;
      case Older::pairs:
        break;
    }
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
