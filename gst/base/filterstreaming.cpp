// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frames and events of GstCudaVisionFilter.
#include "gst/base/allocationquery.h"
#include "gst/base/filterstate.h"
#include "gst/base/framemetas.h"
#include "gst/core/scoped.h"

namespace cudavision {

namespace {

void discard(gpointer self) {
  if (class_of(self)->discard)
    class_of(self)->discard(filter(self));
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
      frame.work.complete();
      report_frame_done(self);
      return std::move(frame.buffer);
    } catch (...) {
      state_of(self).frame_failed = true;
      throw;
    }
  });
}

namespace {

bool is_flushing(GstBaseTransform* trans) {
  return GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SINK_PAD(trans)) ||
         GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SRC_PAD(trans));
}

// Waits until another frame may be in flight, if several may be.
GstFlowReturn wait_for_room(GstBaseTransform* trans) {
  FramePusher& pusher = *state_of(trans).pusher;
  const GstFlowReturn flow = pusher.started() ? pusher.wait_for_room() : GST_FLOW_OK;
  if (flow != GST_FLOW_OK)
    wait_for_frames(trans);
  return flow;
}

GstFlowReturn submit(GstBaseTransform* trans, gboolean is_discont, GstBuffer* in) {
  FilterState& state = state_of(trans);
  // Before all else, so that what is decided about the frame is not out of date when it starts.
  GstFlowReturn flow = wait_for_room(trans);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref(in);
    return flow;
  }
  // New caps and a new pool are negotiated after the frames in flight.
  if (gst_pad_needs_reconfigure(GST_BASE_TRANSFORM_SRC_PAD(trans)))
    wait_for_frames(trans);
  // GstBaseTransform would mark the first frame after one that QoS has dropped when it pushes it.
  if (state.skipped && !is_pulled(trans)) {
    in = gst_buffer_make_writable(in);
    GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_DISCONT);
  }
  flow = filter_parent_class()->submit_input_buffer(trans, is_discont, in);
  state.skipped = flow == GST_BASE_TRANSFORM_FLOW_DROPPED;
  if (flow != GST_FLOW_OK)
    return flow;
  flow = std::exchange(state.pending_flow, GST_FLOW_OK);
  // Downstream may have been linked meanwhile; if not, the next push reports it.
  if (flow == GST_FLOW_OK || flow == GST_FLOW_NOT_LINKED)
    return GST_FLOW_OK;
  gst_clear_buffer(&trans->queued_buf);
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

// Lets controllers set the properties for the time of a frame.
void sync_values(GstBaseTransform* trans, GstBuffer* frame) {
  const GstClockTime stream_time = frame_times(trans->segment, frame).stream_time;
  if (GST_CLOCK_TIME_IS_VALID(stream_time))
    gst_object_sync_values(GST_OBJECT(trans), stream_time);
}

void before_transform(GstBaseTransform* trans, GstBuffer* buffer) {
  post_first_exception(trans, false, [&] {
    if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT))
      push_pending(trans);
    sync_values(trans, buffer);
    follow_context(trans, buffer);
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
    PendingGpuWork started;
    if (in != out || state.work == FrameWork::inspect) {
      const DeviceScope scope(state.session);
      started = state.frames->start(in, state.stored, out, state.work, state.info);
      const auto needs_frame_done = class_of(trans)->needs_frame_done;
      state.reports = state.reports || (needs_frame_done && needs_frame_done(filter(trans)));
    }
    if (state.overlaps) {
      state.started = std::move(started);  // for push_frame()
    } else {
      started.complete();
      report_frame_done(trans);
    }
    return GST_FLOW_OK;
  });
}

void begin_frame_at(GstBaseTransform* trans, GstBuffer* frame) {
  FilterState& state = state_of(trans);
  state.missing = !state.stored && is_missing_frame(frame);
  state.info.buffer = frame;
  state.info.times = frame_times(trans->segment, frame);
  state.info.interlaced = state.frames && is_interlaced(state.frames->in().info, frame);
}

// Hands a processed frame downstream, or to the pusher with the work on it that transform() has
// started, or pushes it itself if nothing is in its way, as the pusher's thread would only take
// time.
GstFlowReturn push_frame(GstBaseTransform* trans, OwnedBuffer out) {
  FilterState& state = state_of(trans);
  // GstBaseTransform does this for the frames that it pushes, and answers POSITION queries with it.
  const FrameTimes& times = state.info.times;
  if (GST_CLOCK_TIME_IS_VALID(times.timestamp) && trans->segment.format == GST_FORMAT_TIME)
    trans->segment.position =
        times.timestamp + (GST_CLOCK_TIME_IS_VALID(times.duration) ? times.duration : 0);
  ++state.pushed;
  GstPad* const src = GST_BASE_TRANSFORM_SRC_PAD(trans);
  if (!state.overlaps)  // transform() has completed the work
    return gst_pad_push(src, out.release());
  FramePusher::Frame frame{std::move(out), std::move(state.started)};
  if (!frame.work.is_in_stream_order() || !state.pusher->idle()) {
    state.pusher->add(std::move(frame));
    return GST_FLOW_OK;
  }
  OwnedBuffer buffer = complete_frame(trans, std::move(frame));
  return buffer ? gst_pad_push(src, buffer.release()) : GST_FLOW_ERROR;
}

// Returns no frame unless downstream pulls it. GstBaseTransform would mark a frame that it pushes
// with the DISCONT of an earlier one that it has not pushed, and whether frames are in flight may
// change from frame to frame, so it pushes none.
GstFlowReturn generate(GstBaseTransform* trans, GstBuffer** out) {
  FilterState& state = state_of(trans);
  // Another thread may stop the pusher at any time, so this is decided once for each frame.
  state.overlaps = state.pusher->started();
  if (trans->queued_buf)
    begin_frame_at(trans, trans->queued_buf);
  const GstFlowReturn flow = filter_parent_class()->generate_output(trans, out);
  if (flow == GST_FLOW_OK && *out && !is_pulled(trans))
    return push_frame(trans, OwnedBuffer(std::exchange(*out, nullptr)));
  state.started = PendingGpuWork();  // of a frame that GstBaseTransform has dropped
  return flow;
}

GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  return answer_of(trans, generate(trans, out));
}

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
  state.pending_flow = GST_FLOW_OK;
  discard(self);
}

void forget_eos(gpointer self) {
  FilterState& state = state_of(self);
  state.pusher->forget_eos();
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

GstFlowReturn answer_of(GstBaseTransform* trans, GstFlowReturn flow) {
  return flow == GST_FLOW_ERROR && is_flushing(trans) ? GST_FLOW_FLUSHING : flow;
}

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

using namespace cudavision;

GstFlowReturn gst_cuda_vision_filter_push(GstCudaVisionFilter* self, OwnedBuffer frame,
                                          const ConstFrame* stored) {
  auto* const trans = GST_BASE_TRANSFORM_CAST(self);
  const GstFlowReturn flow = is_flushing(trans) ? GST_FLOW_FLUSHING : wait_for_room(trans);
  if (flow != GST_FLOW_OK)
    return flow;
  self->state->stored = stored;
  sync_values(trans, frame.get());  // those of later frames have been in force
  trans->queued_buf = frame.release();
  GstBuffer* out = nullptr;
  const GstFlowReturn answer = generate_output(trans, &out);
  self->state->stored = nullptr;
  gst_clear_buffer(&out);  // of a frame that has failed
  return answer;
}
