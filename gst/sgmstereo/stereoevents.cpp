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
void end_unlinked(StereoState& state, GstEvent* segment) {
  if (state.arrived_packed && !state.right.is_linked())
    state.unlinked->end(segment);
}

void apply_packing(StereoState& state, bool packed) {
  state.arrived_packed = packed;
  if (state.right.is_linked())
    return;
  if (!packed) {
    state.unlinked->resume();
    return;
  }
  state.alarm.cancel();
  state.end_alarm.cancel();
  // Usually the segment follows the caps, and sink_right gets EOS then.
  if (const OwnedEvent segment = left_segment(state))
    end_unlinked(state, segment.get());
}

// Returns false for caps that were refused for the same reason before: upstream sends refused caps
// again with its next event or buffer, and one error is enough.
bool caps_arrived(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = stereo_state(self);
  std::string& last_refusal = state.input(pad).last_refusal;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  FramePacking packing;
  try {
    packing = stereo_store_arrived_caps(self, pad, caps);
  } catch (const ElementError& e) {
    if (last_refusal == e.what())
      return false;
    last_refusal = e.what();
    throw;
  }
  last_refusal.clear();
  if (state.is_left(pad))
    apply_packing(state, packing.packed());
  const StereoInput& other = state.other_input(pad);
  if (!packing.packed() && !other.is_linked())
    state.alarm.set(GST_PAD_CAST(other.pad));
  return true;
}

// Returns whether the event is accepted.
bool event_arrived(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = stereo_state(self);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
      return caps_arrived(self, pad, event);
    case GST_EVENT_SEGMENT:
      if (state.is_left(pad))
        end_unlinked(state, event);
      return true;
    case GST_EVENT_EOS:
      if (state.is_left(pad))
        end_unlinked(state, left_segment(state).get());
      if (const StereoInput& other = state.other_input(pad);
          !state.arrived_packed && !other.is_linked())
        state.end_alarm.set(GST_PAD_CAST(other.pad));
      return true;
    default:
      return true;
  }
}

// Called after GstAggregator has handled a flush of sink_left.
void left_flushed(StereoState& state, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    state.flush_finished = true;
  if (!state.right.is_linked())
    state.unlinked->flush(event);
}

/* In turn, in the aggregating thread */

void apply_left_segment(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  // The output for a held frame would belong to the old segment.
  stereo_drop_held(self, state.left);
  stereo_apply_segment(self);
  if (state.flush_finished.exchange(false))
    state.discont = true;
}

// Begins a new output stream if a camera has taken the place of one that ended.
void restart(GstAggregator* self) {
  const StereoState& state = stereo_state(self);
  if (state.eos_sent && !state.left.is_ended() && !state.right.is_ended())
    stereo_restart_output(self);
}

}  // namespace

GstFlowReturn stereo_sink_event_pre_queue(GstAggregator* self, GstAggregatorPad* pad,
                                          GstEvent* event) {
  if (post_exceptions(self, false, [&] { return event_arrived(self, pad, event); }))
    return stereo_parent_class()->sink_event_pre_queue(self, pad, event);
  gst_event_unref(event);
  return GST_FLOW_NOT_NEGOTIATED;
}

gboolean stereo_sink_event(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = stereo_state(self);
  const OwnedEvent owned(event);
  const auto chain_up = [&] {
    return stereo_parent_class()->sink_event(self, pad, gst_event_ref(event));
  };
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    if (GST_EVENT_IS_SERIALIZED(event) && GST_EVENT_TYPE(event) != GST_EVENT_FLUSH_STOP)
      stereo_finish_pairs(self);
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_FLUSH_START:
      case GST_EVENT_FLUSH_STOP: {
        if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
          state.input(pad).flushed = true;
        const gboolean handled = chain_up();
        if (state.is_left(pad))
          left_flushed(state, event);
        return handled;
      }
      case GST_EVENT_STREAM_START: {
        const gboolean handled = chain_up();
        restart(self);
        return handled;
      }
      case GST_EVENT_CAPS: {
        GstCaps* caps = nullptr;
        gst_event_parse_caps(event, &caps);
        stereo_apply_caps(self, pad, caps);
        return chain_up();
      }
      case GST_EVENT_SEGMENT: {
        const gboolean handled = chain_up();
        state.restart = true;  // also after a flush, which a segment must follow
        if (state.is_left(pad)) {
          state.segment_seqnum = gst_event_get_seqnum(event);
          apply_left_segment(self);
        }
        return handled;
      }
      case GST_EVENT_EOS: {
        const gboolean handled = chain_up();
        state.eos_seqnum = gst_event_get_seqnum(event);
        state.diagnostics.end();
        stereo_check_end(self);
        return handled;
      }
      default:
        return chain_up();
    }
  });
}

gboolean stereo_src_event(GstAggregator* self, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
    const ObjectLock lock(self);
    stereo_state(self).qos.take(event);
  }
  return stereo_parent_class()->src_event(self, event);
}

// GstAggregator calls this while the aggregating thread is stopped.
GstFlowReturn stereo_flush(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  {
    const ObjectLock lock(self);
    state.qos.forget_request();
  }
  state.in_flight.clear();
  state.late_flow = GST_FLOW_OK;
  state.eos_sent = false;
  stereo_reopen_branches(self);
  state.unequal.reset();
  state.unpaired.end();
  if (state.renegotiate)
    gst_pad_mark_reconfigure(self->srcpad);
  return GST_FLOW_OK;
}

void stereo_pad_unlinked(GstPad* pad, GstPad*, gpointer self) {
  GST_INFO_OBJECT(pad, "unlinked");
  stereo_forget_arrived_caps(self, stereo_state(self).input(GST_AGGREGATOR_PAD_CAST(pad)));
}

// GStreamer 1.26's GstAggregator does not tell upstream that downstream wants no more frames,
// as 1.22's does.
GstFlowReturn stereo_chain(GstPad* pad, GstObject* self, GstBuffer* buffer) {
  StereoState& state = stereo_state(self);
  if (state.downstream_ended) {
    gst_buffer_unref(buffer);
    return GST_FLOW_EOS;
  }
  const GstFlowReturn flow = state.chain_of_parent(pad, self, buffer);
  state.frames_arrival.notify();
  return flow;
}

}  // namespace cudavision
