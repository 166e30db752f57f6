// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereoevents.h"

#include <memory>

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/outputs/stereopush.h"
#include "gst/sgmstereo/pairing/headframe.h"
#include "gst/sgmstereo/stereoaggregate.h"
#include "gst/sgmstereo/stereonegotiation.h"

namespace cudavision {
namespace {

/* Arriving, in the streaming threads */

OwnedEvent left_segment(const StereoState& state) {
  return OwnedEvent(gst_pad_get_sticky_event(GST_PAD_CAST(state.left.pad), GST_EVENT_SEGMENT, 0));
}

// UnlinkedStream::end() explains segment.
void end_unlinked(StereoArrivals& arrivals, GstEvent* segment) {
  if (arrivals.state.arrived_packed && !arrivals.state.right.is_linked())
    arrivals.unlinked.end(segment);
}

void apply_packing(StereoArrivals& arrivals, bool packed) {
  StereoState& state = arrivals.state;
  state.arrived_packed = packed;
  if (state.right.is_linked())
    return;
  if (!packed) {
    arrivals.unlinked.resume();
    return;
  }
  state.alarm.cancel();
  state.end_alarm.cancel();
  // Usually the segment follows the caps, and sink_right gets EOS then.
  if (const OwnedEvent segment = left_segment(state))
    end_unlinked(arrivals, segment.get());
}

// Returns false for caps that were refused for the same reason before: upstream sends refused caps
// again with its next event or buffer, and one error is enough.
bool caps_arrived(StereoArrivals& arrivals, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = arrivals.state;
  std::string& last_refusal = arrivals.last_refusals[state.side_of(pad)];
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  FramePacking packing;
  try {
    packing = stereo_store_arrived_caps(arrivals.self, pad, caps);
  } catch (const ElementError& e) {
    if (last_refusal == e.what())
      return false;
    last_refusal = e.what();
    throw;
  }
  last_refusal.clear();
  if (state.is_left(pad))
    apply_packing(arrivals, packing.packed());
  const StereoSinkPad& other = state.other_sink(pad);
  if (!packing.packed() && !other.is_linked())
    state.alarm.set(GST_PAD_CAST(other.pad));
  return true;
}

// Returns whether the event is accepted.
bool event_arrived(StereoArrivals& arrivals, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = arrivals.state;
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
      return caps_arrived(arrivals, pad, event);
    case GST_EVENT_SEGMENT:
      if (state.is_left(pad))
        end_unlinked(arrivals, event);
      return true;
    case GST_EVENT_EOS:
      if (state.is_left(pad))
        end_unlinked(arrivals, left_segment(state).get());
      if (const StereoSinkPad& other = state.other_sink(pad);
          !state.arrived_packed && !other.is_linked())
        state.end_alarm.set(GST_PAD_CAST(other.pad));
      return true;
    default:
      return true;
  }
}

// Called after GstAggregator has handled a flush of sink_left.
void left_flushed(StereoArrivals& arrivals, GstEvent* event) {
  StereoState& state = arrivals.state;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    state.flush_finished = true;
  if (!state.right.is_linked())
    arrivals.unlinked.flush(event);
}

/* In turn, in the aggregating thread */

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

void StereoArrivals::reset() {
  unlinked.reset();
  for (std::string& refusal : last_refusals)
    refusal.clear();
}

GstFlowReturn stereo_sink_event_pre_queue(StereoArrivals& arrivals, GstAggregatorPad* pad,
                                          GstEvent* event) {
  GstAggregator* self = arrivals.self;
  if (post_exceptions(self, false, [&] { return event_arrived(arrivals, pad, event); }))
    return stereo_parent_class()->sink_event_pre_queue(self, pad, event);
  gst_event_unref(event);
  return GST_FLOW_NOT_NEGOTIATED;
}

gboolean stereo_sink_flush_event(StereoArrivals& arrivals, GstAggregatorPad* pad, GstEvent* event) {
  const OwnedEvent owned(event);
  return post_exceptions(arrivals.self, FALSE, [&]() -> gboolean {
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
      arrivals.state.sink(pad).flushed = true;
    const gboolean handled =
        stereo_parent_class()->sink_event(arrivals.self, pad, gst_event_ref(event));
    if (arrivals.state.is_left(pad))
      left_flushed(arrivals, event);
    return handled;
  });
}

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
        stream.diagnostics.end();
        stereo_check_end(stream);
        return handled;
      }
      default:
        return chain_up();
    }
  });
}

gboolean stereo_src_event(GstAggregator* self, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS)
    stereo_state(self).shared.lock()->qos.take(event);
  return stereo_parent_class()->src_event(self, event);
}

// GstAggregator calls this while the aggregating thread is stopped.
GstFlowReturn stereo_flush(StereoStream& stream) {
  stream.state.shared.lock()->qos.forget_request();
  stream.in_flight.clear();
  stream.late_flow = GST_FLOW_OK;
  stream.eos_sent = false;
  stereo_reopen_branches(stream);
  stream.unequal.reset();
  stream.unpaired.end();
  if (stream.renegotiate)
    gst_pad_mark_reconfigure(stream.self->srcpad);
  return GST_FLOW_OK;
}

void stereo_pad_unlinked(GstPad* pad, GstPad*, gpointer self) {
  GST_INFO_OBJECT(pad, "unlinked");
  stereo_forget_arrived_caps(self, GST_AGGREGATOR_PAD_CAST(pad));
}

// GStreamer 1.26's GstAggregator does not tell upstream that downstream wants no more frames,
// as 1.22's does.
GstFlowReturn stereo_chain(StereoArrivals& arrivals, GstPad* pad, GstBuffer* buffer) {
  if (arrivals.state.downstream_ended) {
    gst_buffer_unref(buffer);
    return GST_FLOW_EOS;
  }
  const GstFlowReturn flow = arrivals.chain_of_parent(pad, GST_OBJECT_CAST(arrivals.self), buffer);
  arrivals.state.frames_arrival.notify();
  return flow;
}

}  // namespace cudavision
