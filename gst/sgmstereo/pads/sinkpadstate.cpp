// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pads/sinkpadstate.h"

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pads/padqueries.h"

namespace cudavision {
namespace {

OwnedEvent left_segment(const StereoState& state) {
  return OwnedEvent(gst_pad_get_sticky_event(GST_PAD_CAST(state.left.pad), GST_EVENT_SEGMENT, 0));
}

void end_unlinked(SinkPadState& sinks, GstEvent* segment) {
  if (sinks.state.arrived_packed && !sinks.state.right.is_linked())
    sinks.unlinked.end(segment);
}

void apply_packing(SinkPadState& sinks, bool packed) {
  StereoState& state = sinks.state;
  state.arrived_packed = packed;
  if (state.right.is_linked())
    return;
  if (!packed) {
    sinks.unlinked.resume();
    return;
  }
  state.alarm.cancel();
  state.end_alarm.cancel();
  // If the segment has not arrived yet, the handler of SEGMENT ends sink_right.
  if (const OwnedEvent segment = left_segment(state))
    end_unlinked(sinks, segment.get());
}

// Returns false if the last caps were refused for the same reason. Upstream resends refused caps
// with its next event or buffer, but one error is enough.
bool caps_arrived(SinkPadState& sinks, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = sinks.state;
  std::string& last_refusal = sinks.last_refusals[state.side_of(pad)];
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  FramePacking packing;
  try {
    packing = stereo_store_arrived_caps(sinks.self, pad, caps);
  } catch (const ElementError& e) {
    if (last_refusal == e.what())
      return false;
    last_refusal = e.what();
    throw;
  }
  last_refusal.clear();
  if (state.is_left(pad))
    apply_packing(sinks, packing.packed());
  const StereoSinkPad& other = state.other_sink(pad);
  if (!packing.packed() && !other.is_linked())
    state.alarm.set(GST_PAD_CAST(other.pad));
  return true;
}

bool event_arrived(SinkPadState& sinks, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = sinks.state;
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_CAPS)
    return caps_arrived(sinks, pad, event);
  if (type == GST_EVENT_SEGMENT && state.is_left(pad))
    end_unlinked(sinks, event);
  if (type == GST_EVENT_EOS && state.is_left(pad))
    end_unlinked(sinks, left_segment(state).get());
  if (const StereoSinkPad& other = state.other_sink(pad);
      type == GST_EVENT_EOS && !state.arrived_packed && !other.is_linked())
    state.end_alarm.set(GST_PAD_CAST(other.pad));
  return true;
}

}  // namespace

void SinkPadState::reset() {
  unlinked.reset();
  last_refusals = {};
}

GstFlowReturn stereo_sink_event_pre_queue(SinkPadState& sinks, GstAggregatorPad* pad,
                                          GstEvent* event) {
  GstAggregator* self = sinks.self;
  if (post_exceptions(self, false, [&] { return event_arrived(sinks, pad, event); }))
    return stereo_parent_class()->sink_event_pre_queue(self, pad, event);
  gst_event_unref(event);
  return GST_FLOW_NOT_NEGOTIATED;
}

gboolean stereo_sink_flush_event(SinkPadState& sinks, GstAggregatorPad* pad, GstEvent* event) {
  const OwnedEvent owned(event);
  return post_exceptions(sinks.self, FALSE, [&]() -> gboolean {
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
      sinks.state.sink(pad).flushed = true;
    const gboolean handled =
        stereo_parent_class()->sink_event(sinks.self, pad, gst_event_ref(event));
    if (!sinks.state.is_left(pad))
      return handled;
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
      sinks.state.flush_finished = true;
    if (!sinks.state.right.is_linked())
      sinks.unlinked.flush(event);
    return handled;
  });
}

gboolean stereo_src_event(GstAggregator* self, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS)
    stereo_state(self).shared.lock()->qos.take(event);
  return stereo_parent_class()->src_event(self, event);
}

void stereo_pad_unlinked(GstPad* pad, GstPad*, gpointer self) {
  GST_INFO_OBJECT(pad, "unlinked");
  stereo_forget_arrived_caps(self, GST_AGGREGATOR_PAD_CAST(pad));
}

// Returns downstream's EOS to upstream. GStreamer 1.22 also does this, but 1.26 does not.
GstFlowReturn stereo_chain(SinkPadState& sinks, GstPad* pad, GstBuffer* buffer) {
  if (sinks.state.downstream_ended) {
    gst_buffer_unref(buffer);
    return GST_FLOW_EOS;
  }
  const GstFlowReturn flow = sinks.chain_of_parent(pad, GST_OBJECT_CAST(sinks.self), buffer);
  sinks.state.frames_arrival.notify();
  return flow;
}

}  // namespace cudavision
