// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pipeline/streamevents.h"

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pipeline/inspection.h"
#include "gst/sgmstereo/pipeline/negotiation.h"
#include "gst/sgmstereo/pipeline/stereoaggregate.h"
#include "gst/sgmstereo/pipeline/stereopush.h"

namespace cudavision {
namespace {

void apply_left_segment(StereoStream& stream) {
  // The output for a held frame would belong to the old segment.
  stereo_drop_held(stream, stream.left);
  stereo_apply_segment(stream);
  if (stream.state.flush_finished.exchange(false))
    stream.outputs_discont = true;
}

// Begins a new output stream if a camera has taken the place of one that ended.
void restart(StereoStream& stream) {
  if (stream.eos_sent && !stream.left.sink.is_ended() && !stream.right.sink.is_ended())
    stereo_restart_output(stream);
}

}  // namespace

gboolean stereo_sink_event(StereoStream& stream, GstAggregatorPad* pad, GstEvent* event) {
  const OwnedEvent owned(event);
  const auto chain_up = [&] {
    return stereo_parent_class()->sink_event(stream.self, pad, gst_event_ref(event));
  };
  return post_exceptions(stream.self, FALSE, [&]() -> gboolean {
    if (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED)
      stereo_finish_pairs(stream);
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_STREAM_START: {
        const gboolean handled = chain_up();
        restart(stream);
        return handled;
      }
      case GST_EVENT_CAPS: {
        GstCaps* caps = nullptr;
        gst_event_parse_caps(event, &caps);
        stereo_apply_caps(stream, pad, caps);
        return chain_up();
      }
      case GST_EVENT_SEGMENT: {
        const gboolean handled = chain_up();
        stream.temporal_restart = true;  // also after a flush, which a segment must follow
        if (stream.state.is_left(pad)) {
          stream.segment_seqnum = gst_event_get_seqnum(event);
          apply_left_segment(stream);
        }
        return handled;
      }
      case GST_EVENT_EOS: {
        const gboolean handled = chain_up();
        stream.eos_seqnum = gst_event_get_seqnum(event);
        stereo_end_inspections(stream);
        stereo_check_end(stream);
        return handled;
      }
      default:
        return chain_up();
    }
  });
}

// GstAggregator calls this while the aggregating thread is stopped.
GstFlowReturn stereo_flush(StereoStream& stream) {
  stream.state.shared.lock()->qos.forget_request();
  stream.in_flight.clear();
  stream.late_flow = GST_FLOW_OK;
  stream.eos_sent = false;
  stereo_reopen_branches(stream);
  stream.mismatch.reset();
  stream.pairing_timeout.end();
  if (stream.renegotiate)
    gst_pad_mark_reconfigure(stream.self->srcpad);
  return GST_FLOW_OK;
}

}  // namespace cudavision
