// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Events and queries of GstCudaVisionFilter, and functions that wait for its frames.
#include "gst/base/filter/filterstate.h"

namespace cudavision {
namespace {

void discard(gpointer self) {
  if (class_of(self)->discard)
    class_of(self)->discard(filter(self));
}

void flush_stop(gpointer self) {
  FilterState& state = state_of(self);
  state.forget_refusal();
  state.pusher->take_flow();
  state.skipped = false;
  state.pushed = 0;
  state.pending_flow = GST_FLOW_OK;
  discard(self);
}

void forget_eos(gpointer self) {
  FilterState& state = state_of(self);
  state.pusher->forget_flow(GST_FLOW_EOS);
  if (state.pending_flow == GST_FLOW_EOS)
    state.pending_flow = GST_FLOW_OK;
}

gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  post_first_exception(trans, false, [&] {
    if (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) {
      if (GST_EVENT_TYPE(event) != GST_EVENT_FLUSH_STOP)
        push_pending(trans);
      wait_for_frames(trans);
    }
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_STREAM_START:
        forget_eos(trans);
        break;
      case GST_EVENT_SEGMENT:
        forget_eos(trans);
        drain_filter(trans);
        state_of(trans).regions.forget();
        break;
      case GST_EVENT_EOS:
        drain_filter(trans);
        state_of(trans).regions.end();
        state_of(trans).regions.post_warning(GST_ELEMENT_CAST(trans));
        break;
      case GST_EVENT_CAPS:
        drain_filter(trans);
        break;
      case GST_EVENT_FLUSH_STOP:
        flush_stop(trans);
        break;
      default:
        break;
    }
    return true;
  });
  const bool flush_starts = GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START;
  const gboolean handled = filter_parent_class()->sink_event(trans, event);
  // If the pusher's thread seeks, flush() ends the streaming thread's wait for frames in flight.
  // The parent's handler has run first, so the source pad refuses an event sent after the wait.
  if (flush_starts)
    state_of(trans).pusher->flush();
  return handled;
}

gboolean src_event(GstBaseTransform* trans, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE)
    state_of(trans).pusher->forget_flow(GST_FLOW_NOT_LINKED);
  return filter_parent_class()->src_event(trans, event);
}

// Each frame is pushed when it is complete, so frames in flight do not raise the minimum latency.
// They raise the maximum latency, as a queue does (without a framerate, to infinity).
void add_latency(gpointer self, GstQuery* query) {
  gboolean live = FALSE;
  GstClockTime minimum = 0, maximum = 0;
  gst_query_parse_latency(query, &live, &minimum, &maximum);
  const ObjectLock lock(self);
  const auto sum = [](GstClockTime a, GstClockTime b) {
    return a < GST_CLOCK_TIME_NONE - b ? a + b : GST_CLOCK_TIME_NONE;
  };
  const GstClockTime own = state_of(self).latency;
  gst_query_set_latency(query, live, minimum + own,
                        sum(sum(maximum, own), state_of(self).buffered));
}

// Call this with the stream lock held.
bool is_streaming(GstPad* sink) {
  const ObjectLock lock(sink);
  return GST_PAD_MODE(sink) == GST_PAD_MODE_PUSH && !GST_PAD_IS_FLUSHING(sink);
}

gboolean query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  return post_exceptions(trans, FALSE, [&]() -> gboolean {
    if ((gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED) &&
        direction == GST_PAD_SINK) {
      // While the element stops, GstPad refuses buffers and events, but not serialized queries,
      // which may start a negotiation.
      if (!is_streaming(GST_BASE_TRANSFORM_SINK_PAD(trans)))
        return FALSE;
      if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN)
        push_pending(trans);
      wait_for_frames(trans);
    }
    if (state_of(trans).session.handle_context_query(query))
      return TRUE;
    if (!filter_parent_class()->query(trans, direction, query))
      return FALSE;
    if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
      add_latency(trans, query);
    return TRUE;
  });
}

}  // namespace

bool wait_for_frames(gpointer self) {
  FilterState& state = state_of(self);
  state.pusher->drain();
  if (!state.frame_failed.exchange(false))
    return true;
  discard(self);
  return false;
}

bool give_up_frames(gpointer self) {
  const bool all_worked = wait_for_frames(self);
  discard(self);
  return all_worked;
}

void push_pending(gpointer self) {
  const auto push = class_of(self)->push_pending;
  const GstFlowReturn flow = push ? push(filter(self)) : GST_FLOW_OK;
  if (flow != GST_FLOW_OK)
    state_of(self).pending_flow = flow;
}

void drain_filter(gpointer self) {
  FilterState& state = state_of(self);
  push_pending(self);
  wait_for_frames(self);
  if (state.slots)
    state.slots->finish();
  if (class_of(self)->drain)
    class_of(self)->drain(filter(self));
}

void install_events(GstBaseTransformClass* transform_class) {
  transform_class->sink_event = GST_DEBUG_FUNCPTR(sink_event);
  transform_class->src_event = GST_DEBUG_FUNCPTR(src_event);
  transform_class->query = GST_DEBUG_FUNCPTR(query);
}

}  // namespace cudavision
