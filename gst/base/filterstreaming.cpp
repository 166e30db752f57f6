// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frames and events of GstCudaVisionFilter.
#include "gst/base/allocationquery.h"
#include "gst/base/filterstate.h"
#include "gst/base/framemetas.h"
#include "gst/core/scoped.h"

namespace cudavision {

void discard_messages(gpointer self) {
  if (class_of(self)->discard)
    class_of(self)->discard(filter(self));
}

bool wait_for_frames(gpointer self) {
  FilterState& state = state_of(self);
  state.pusher->drain();
  if (!state.frame_failed.exchange(false))
    return true;
  discard_messages(self);
  return false;
}

void drain_filter(gpointer self) {
  FilterState& state = state_of(self);
  push_delayed(self);
  wait_for_frames(self);
  if (state.frames)
    state.frames->finish();
  if (class_of(self)->drain)
    class_of(self)->drain(filter(self));
}

namespace {

// No context is current when frame_done() runs.
void report_frame_done(gpointer self) {
  if (class_of(self)->frame_done)
    class_of(self)->frame_done(filter(self));
}

}  // namespace

OwnedBuffer complete_frame(gpointer self, FramePusher::Frame frame) {
  return post_exceptions(self, OwnedBuffer(), [&] {
    try {
      OwnedBuffer buffer = std::move(frame).complete();
      report_frame_done(self);
      return buffer;
    } catch (...) {
      state_of(self).frame_failed = true;
      throw;
    }
  });
}

namespace {

// Upstream stops in silence if a frame fails while the element is being stopped or flushed: the
// error is not the reason that the stream ends, and may have gone to a bus that nobody reads.
GstFlowReturn answer_of(GstBaseTransform* trans, GstFlowReturn flow) {
  const bool flushing = GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SINK_PAD(trans)) ||
                        GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SRC_PAD(trans));
  return flow == GST_FLOW_ERROR && flushing ? GST_FLOW_FLUSHING : flow;
}

GstFlowReturn submit(GstBaseTransform* trans, gboolean is_discont, GstBuffer* in) {
  FilterState& state = state_of(trans);
  // Until a frame has come to wait: QoS may drop this one.
  if (GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_DISCONT))
    state.delay.interrupted = true;
  if (state.pusher->started()) {
    // Before all else, so that what is decided about the frame is not out of date when it starts.
    const GstFlowReturn flow = state.pusher->wait_for_room();
    if (flow != GST_FLOW_OK) {
      wait_for_frames(trans);
      gst_buffer_unref(in);
      return flow;
    }
    // New caps and a new pool are negotiated after the frames in flight.
    if (gst_pad_needs_reconfigure(GST_BASE_TRANSFORM_SRC_PAD(trans)))
      wait_for_frames(trans);
  }
  // GstBaseTransform would mark the first frame after one that QoS has dropped when it pushes it.
  if (state.skipped && !is_pulled(trans)) {
    in = gst_buffer_make_writable(in);
    GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_DISCONT);
    state.info.buffer = in;
  }
  const GstFlowReturn flow = filter_parent_class()->submit_input_buffer(trans, is_discont, in);
  state.skipped = flow == GST_BASE_TRANSFORM_FLOW_DROPPED;
  return flow;
}

GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean is_discont, GstBuffer* in) {
  return answer_of(trans, submit(trans, is_discont, in));
}

// If frames arrive in another CUDA context, moves everything there, the output pool included.
void follow_context(GstBaseTransform* trans, GstBuffer* buffer) {
  FilterState& state = state_of(trans);
  GstMemory* memory = cuda_memory_of(buffer);
  if (!state.frames || !state.session.should_move_to(memory))
    return;
  rebuild_filter(trans, [&] { state.session.move_to(memory); });
  gst_base_transform_reconfigure_src(trans);
}

// Builds everything for another number of frames to search, if the properties ask for it.
void follow_properties(GstBaseTransform* trans) {
  const auto needs_reconfigure = class_of(trans)->needs_reconfigure;
  if (state_of(trans).frames && needs_reconfigure && needs_reconfigure(filter(trans)))
    rebuild_filter(trans, [] {});
}

void before_transform(GstBaseTransform* trans, GstBuffer* buffer) {
  post_first_exception(trans, false, [&] {
    const std::size_t& ahead = state_of(trans).delay.ahead;
    const bool waits = ahead > 0;
    // A frame that waits begins when it is processed, which delay_frame() does.
    if (!waits)
      begin_frame_at(trans, buffer, is_missing_frame(buffer));
    follow_context(trans, buffer);
    follow_properties(trans);
    post_latency(trans);
    if (waits && ahead == 0)
      begin_frame_at(trans, buffer, is_missing_frame(buffer));
    return true;
  });
}

// Takes a buffer from the pool. GstBaseTransform itself posts nothing if the pool has none left,
// and an error that does not say why if the pool cannot even allocate its first ones.
GstFlowReturn acquire_output(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out) {
  const ObjectPtr<GstBufferPool> pool(gst_base_transform_get_buffer_pool(trans));
  GstFlowReturn flow = GST_FLOW_ERROR;
  if (!pool || gst_buffer_pool_set_active(pool.get(), TRUE))
    flow = filter_parent_class()->prepare_output_buffer(trans, in, out);
  if (flow == GST_FLOW_ERROR && pool)
    refuse_output(state_of(trans).frames->out());
  return flow;
}

GstFlowReturn prepare_output_buffer(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out) {
  return post_first_exception(trans, GST_FLOW_ERROR, [&] {
    FilterState& state = state_of(trans);
    if (!state.frames)
      return GST_FLOW_ERROR;
    if (state.missing) {
      state.work = FrameWork::nothing;
      *out = in;
      return GST_FLOW_OK;
    }
    state.work = class_of(trans)->begin_frame(filter(trans), state.info);
    state.regions.post_warning(GST_ELEMENT_CAST(trans));
    if (state.work != FrameWork::transform && state.frames->may_reuse(in)) {
      *out = in;
      return GST_FLOW_OK;
    }
    return acquire_output(trans, in, out);
  });
}

// Describes, for the debug log, how a frame is processed.
const char* description(const FilterState& state, bool in_place) {
  switch (state.work) {
    case FrameWork::nothing:
      if (state.missing)
        return "a gap, pushed unchanged";
      return in_place ? "pushed unchanged" : "copied unchanged";
    case FrameWork::inspect:
      return in_place ? "inspected and pushed unchanged" : "inspected and copied";
    case FrameWork::transform:
      break;
  }
  return "a new frame is made";
}

GstFlowReturn transform(GstBaseTransform* trans, GstBuffer* in, GstBuffer* out) {
  return post_first_exception(trans, GST_FLOW_ERROR, [&] {
    FilterState& state = state_of(trans);
    GST_CAT_LOG_OBJECT(category_of(trans), trans, "frame %" GST_TIME_FORMAT ": %s",
                       GST_TIME_ARGS(GST_BUFFER_PTS(in)), description(state, in == out));
    const bool waited = state.delay.ahead > 0;
    DeviceWork started;
    if (in != out || state.work == FrameWork::inspect) {
      const DeviceScope scope(state.session);
      started = waited ? state.frames->start_reference(state.number, out, state.work, state.info)
                       : state.frames->start(in, out, state.work, state.info);
      const auto needs_frame_done = class_of(trans)->needs_frame_done;
      state.reports = state.reports || (needs_frame_done && needs_frame_done(filter(trans)));
    }
    if (state.overlaps) {
      state.started = std::move(started);  // for push_frame()
    } else {
      std::move(started).complete();
      report_frame_done(trans);
    }
    return GST_FLOW_OK;
  });
}

}  // namespace

void begin_frame_at(GstBaseTransform* trans, GstBuffer* frame, bool missing) {
  FilterState& state = state_of(trans);
  state.missing = missing;
  state.info.buffer = frame;
  state.info.times = frame_times(trans->segment, frame);
  state.info.interlaced = state.frames && is_interlaced(state.frames->in().info, frame);
  if (GST_CLOCK_TIME_IS_VALID(state.info.times.stream_time))
    gst_object_sync_values(GST_OBJECT(trans), state.info.times.stream_time);
}

namespace {

// Returns the time at which a frame ends.
GstClockTime end_of(const FrameInfo& frame) {
  const FrameTimes& times = frame.times;
  return GST_CLOCK_TIME_IS_VALID(times.timestamp) && GST_CLOCK_TIME_IS_VALID(times.duration)
             ? times.timestamp + times.duration
             : times.timestamp;
}

// Returns no frame unless downstream pulls it. With frames in flight, the pusher hands it
// downstream later, or this function itself if nothing is in its way, as the pusher's thread would
// only take time. GstBaseTransform would mark a frame that it pushes with the DISCONT of an earlier
// one that it has not pushed, and whether frames are in flight or wait may change from frame to
// frame, so it pushes none.
GstFlowReturn generate(GstBaseTransform* trans, GstBuffer** out) {
  const auto of_parent = filter_parent_class()->generate_output;
  FilterState& state = state_of(trans);
  // Another thread may stop the pusher at any time, so this is decided once for each frame.
  state.overlaps = state.pusher->started();
  if (!trans->queued_buf || is_pulled(trans))
    return of_parent(trans, out);
  if (state.delay.ahead > 0)
    return delay_frame(trans, OwnedBuffer(std::exchange(trans->queued_buf, nullptr)));
  const GstFlowReturn flow = of_parent(trans, out);
  if (flow == GST_FLOW_OK && *out)
    return push_frame(trans, OwnedBuffer(std::exchange(*out, nullptr)));
  state.started = DeviceWork();  // of a frame that GstBaseTransform has dropped
  return flow;
}

GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  return answer_of(trans, generate(trans, out));
}

}  // namespace

GstFlowReturn push_frame(GstBaseTransform* trans, OwnedBuffer out) {
  FilterState& state = state_of(trans);
  // GstBaseTransform does this for the frames that it pushes, and answers POSITION queries with it.
  const GstClockTime end = end_of(state.info);
  if (GST_CLOCK_TIME_IS_VALID(end) && trans->segment.format == GST_FORMAT_TIME)
    trans->segment.position = end;
  ++state.pushed;
  GstPad* const src = GST_BASE_TRANSFORM_SRC_PAD(trans);
  if (!state.overlaps)  // transform() has completed the work
    return gst_pad_push(src, out.release());
  FramePusher::Frame frame(std::move(out), std::move(state.started));
  if (!frame.work().is_in_stream_order() || !state.pusher->idle()) {
    state.pusher->add(std::move(frame));
    return GST_FLOW_OK;
  }
  OwnedBuffer buffer = complete_frame(trans, std::move(frame));
  return buffer ? gst_pad_push(src, buffer.release()) : GST_FLOW_ERROR;
}

namespace {

gboolean transform_meta(GstBaseTransform* trans, GstBuffer*, GstMeta* meta, GstBuffer*) {
  const auto& frames = state_of(trans).frames;
  const bool same_size = frames && frames->in().layout.width == frames->out().layout.width &&
                         frames->in().layout.height == frames->out().layout.height;
  return applies_to_output(meta, same_size);
}

// Forgets the state that a flush has made void.
void forget_frames(gpointer self) {
  FilterState& state = state_of(self);
  state.forget_refusal();
  state.pusher->take_flow();
  state.skipped = false;
  state.pushed = 0;
  drop_delayed(self);
  state.delay.flow = GST_FLOW_OK;
  discard_messages(self);
}

void forget_eos(gpointer self) {
  FilterState& state = state_of(self);
  state.pusher->forget_eos();
  if (state.delay.flow == GST_FLOW_EOS)
    state.delay.flow = GST_FLOW_OK;
}

gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  post_first_exception(trans, false, [&] {
    if (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) {
      // Frames that wait come before the event, except those of which a flush makes nothing.
      if (GST_EVENT_TYPE(event) != GST_EVENT_FLUSH_STOP)
        push_delayed(trans);
      wait_for_frames(trans);
    }
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_STREAM_START:
        forget_eos(trans);
        break;
      case GST_EVENT_SEGMENT:
        forget_eos(trans);
        drain_filter(trans);
        // This is also what follows a flush.
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
        forget_frames(trans);
        break;
      default:
        break;
    }
    return true;
  });
  const bool flush_starts = GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START;
  const gboolean handled = filter_parent_class()->sink_event(trans, event);
  // Only now does the pad refuse an event that the streaming thread may have kept back until the
  // frames in flight had gone.
  if (flush_starts)
    state_of(trans).pusher->flush();
  return handled;
}

gboolean src_event(GstBaseTransform* trans, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE)
    state_of(trans).pusher->forget_not_linked();
  return filter_parent_class()->src_event(trans, event);
}

}  // namespace

void install_streaming(GstBaseTransformClass* transform_class) {
  transform_class->before_transform = GST_DEBUG_FUNCPTR(before_transform);
  transform_class->prepare_output_buffer = GST_DEBUG_FUNCPTR(prepare_output_buffer);
  transform_class->transform = GST_DEBUG_FUNCPTR(transform);
  transform_class->submit_input_buffer = GST_DEBUG_FUNCPTR(submit_input_buffer);
  transform_class->generate_output = GST_DEBUG_FUNCPTR(generate_output);
  transform_class->transform_meta = GST_DEBUG_FUNCPTR(transform_meta);
  transform_class->sink_event = GST_DEBUG_FUNCPTR(sink_event);
  transform_class->src_event = GST_DEBUG_FUNCPTR(src_event);
}

}  // namespace cudavision
