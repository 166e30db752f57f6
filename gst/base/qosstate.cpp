// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/qosstate.h"

namespace cudavision {

void QosState::take(GstEvent* event) {
  GstClockTimeDiff late = 0;
  GstClockTime timestamp = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(event, nullptr, &proportion_, &late, &timestamp);
  // Both numbers come from downstream, so the sum may overflow in either direction.
  const auto shift = static_cast<GstClockTime>(late);
  const GstClockTime earliest = timestamp + shift;
  const bool in_range = late < 0 ? 0 - shift <= timestamp : earliest >= timestamp;
  earliest_ = GST_CLOCK_TIME_IS_VALID(timestamp) && in_range ? earliest : GST_CLOCK_TIME_NONE;
}

bool QosState::skips(GstClockTime running_time) {
  const bool late = GST_CLOCK_TIME_IS_VALID(running_time) && GST_CLOCK_TIME_IS_VALID(earliest_) &&
                    running_time <= earliest_;
  ++(late ? skipped_ : made_);
  return late;
}

GstMessage* QosState::message(GstElement* element, const FrameTimes& times) const {
  GstMessage* message = gst_message_new_qos(GST_OBJECT_CAST(element), FALSE, times.running_time,
                                            times.stream_time, times.timestamp, times.duration);
  gst_message_set_qos_values(message, GST_CLOCK_DIFF(times.running_time, earliest_), proportion_,
                             1000000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, made_, skipped_);
  return message;
}

}  // namespace cudavision
