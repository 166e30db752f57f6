// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereoaggregate.h"

#include "gst/base/elementerror.h"
#include "gst/sgmstereo/framepairing.h"
#include "gst/sgmstereo/headframe.h"
#include "gst/sgmstereo/stereooutput.h"

namespace cudavision {
namespace {

// Returns the max-skew in force. left is the frame whose duration counts, or nullptr if there is
// none.
GstClockTime current_max_skew(GstAggregator* self, GstBuffer* left) {
  const StereoState& state = stereo_state(self);
  const gint64 property = current_settings(self, state.settings).max_skew;
  const GstVideoInfo* info = state.left.format ? &state.left.format->info : nullptr;
  return max_skew_for(property, left ? GST_BUFFER_DURATION(left) : GST_CLOCK_TIME_NONE,
                      info ? info->fps_n : 0, info ? info->fps_d : 1);
}

void drop(GstAggregator* self, StereoInput& input, HeadFrame& frame) {
  if (!frame.stream().frame->gap) {
    GST_DEBUG_OBJECT(input.pad, "no partner for %" GST_PTR_FORMAT, frame.buffer());
    const ObjectLock lock(self);
    ++input.dropped;
  }
  frame.consume();
  stereo_state(self).discont = true;
}

// Returns true if the output would be too late for downstream. Counts the frame, and posts a QoS
// message if it is late.
bool skip_late(GstAggregator* self, const FrameTimes& times) {
  QosState& qos = stereo_state(self).qos;
  GstMessage* message = nullptr;
  {
    const ObjectLock lock(self);
    if (qos.skips(times.running_time))
      message = qos.message(GST_ELEMENT_CAST(self), times);
  }
  if (message)
    gst_element_post_message(GST_ELEMENT_CAST(self), message);
  return message != nullptr;
}

/// right is nullptr if frames are packed.
GstFlowReturn process_pair(GstAggregator* self, HeadFrame& left, HeadFrame* right) {
  StereoState& state = stereo_state(self);
  const bool negotiated = state.left.format && (!right || state.right.format) && state.out;
  const FrameTimes times = left.times();
  gst_aggregator_selected_samples(self, times.timestamp, GST_BUFFER_DTS(left.buffer()),
                                  times.duration, nullptr);
  const bool skipped = negotiated && skip_late(self, times);
  left.consume();
  if (right)
    right->consume();
  if (!negotiated)
    return GST_FLOW_NOT_NEGOTIATED;
  if (skipped) {
    state.discont = true;
    return GST_FLOW_OK;
  }
  stereo_update_latency(self);  // max-skew may have changed
  if (GST_CLOCK_TIME_IS_VALID(times.stream_time))
    gst_object_sync_values(GST_OBJECT_CAST(self), times.stream_time);
  return stereo_push_output(self, left, right);
}

GstFlowReturn aggregate_packed(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  require_unlinked(GST_PAD_CAST(state.right.pad));
  HeadFrame frame(state.left.pad);
  if (!frame.buffer())
    return frame.stream().ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  if (!frame.stream().frame->gap)
    return process_pair(self, frame, nullptr);
  stereo_push_gap(self, frame.buffer());
  drop(self, state.left, frame);
  return GST_FLOW_OK;
}

GstFlowReturn aggregate_pair(GstAggregator* self, bool timed_out) {
  StereoState& state = stereo_state(self);
  HeadFrame left(state.left.pad), right(state.right.pad);
  const PairingStep step =
      next_step(left.stream(), right.stream(), current_max_skew(self, left.buffer()), timed_out);
  switch (step) {
    case PairingStep::pair:
      return process_pair(self, left, &right);
    case PairingStep::miss:
      stereo_push_gap(self, left.buffer());
      drop(self, state.left, left);
      drop(self, state.right, right);
      return GST_FLOW_OK;
    case PairingStep::drop_left:
      if (left.stream().frame->gap)
        stereo_push_gap(self, left.buffer());
      drop(self, state.left, left);
      return GST_FLOW_OK;
    case PairingStep::drop_right:
      drop(self, state.right, right);
      return GST_FLOW_OK;
    case PairingStep::end:
      if (left.buffer())
        drop(self, state.left, left);
      if (right.buffer())
        drop(self, state.right, right);
      return GST_FLOW_EOS;
    case PairingStep::wait:
      break;
  }
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

}  // namespace

// The latency follows from the framerate. If it followed from the durations of frames, these would
// make the pipeline redistribute its latency again and again when they vary by a nanosecond.
void stereo_update_latency(GstAggregator* self) {
  const bool packed = stereo_state(self).packing.packed();
  const GstClockTime skew = packed ? 0 : current_max_skew(self, nullptr);
  // An unlimited max-skew would overflow when the pipeline adds up latencies.
  const GstClockTime latency = MIN(skew, 3600 * GST_SECOND);
  gst_aggregator_set_latency(self, latency, latency);
}

GstFlowReturn stereo_aggregate(GstAggregator* self, gboolean timeout) {
  return post_exceptions(self, GST_FLOW_ERROR, [&] {
    return stereo_state(self).packing.packed() ? aggregate_packed(self)
                                               : aggregate_pair(self, timeout);
  });
}

GstClockTime stereo_get_next_time(GstAggregator* self) {
  const StereoState& state = stereo_state(self);
  const HeadFrame left(state.left.pad), right(state.right.pad);
  return pairing_deadline(left.stream(), right.stream(), current_max_skew(self, left.buffer()));
}

GstSample* stereo_peek_next_sample(GstAggregator*, GstAggregatorPad* pad) {
  const HeadFrame frame(pad);
  if (!frame.buffer())
    return nullptr;
  const GstSegment segment = current_segment(pad);
  const Caps caps(gst_pad_get_current_caps(GST_PAD_CAST(pad)));
  return gst_sample_new(frame.buffer(), caps.get(), &segment, nullptr);
}

}  // namespace cudavision
