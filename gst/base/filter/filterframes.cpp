// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The path of a frame through GstCudaVisionFilter.
#include <gst/video/gstvideometa.h>

#include <utility>

#include "gst/base/allocationquery.h"
#include "gst/base/filter/filterstate.h"
#include "gst/base/framemetas.h"

namespace cudavision {
namespace {

bool is_flushing(GstBaseTransform* trans) {
  return GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SINK_PAD(trans)) ||
         GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SRC_PAD(trans));
}

GstFlowReturn wait_for_room(GstBaseTransform* trans) {
  FramePusher& pusher = *state_of(trans).pusher;
  const GstFlowReturn flow = pusher.started() ? pusher.wait_for_room() : GST_FLOW_OK;
  if (flow != GST_FLOW_OK)
    wait_for_frames(trans);
  return flow;
}

GstFlowReturn submit(GstBaseTransform* trans, gboolean is_discont, GstBuffer* in) {
  FilterState& state = state_of(trans);
  // Waits first, so that QoS and properties are up to date when the frame starts.
  GstFlowReturn flow = wait_for_room(trans);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref(in);
    return flow;
  }
  if (gst_pad_needs_reconfigure(GST_BASE_TRANSFORM_SRC_PAD(trans)))
    wait_for_frames(trans);
  // GstBaseTransform sets DISCONT after a dropped frame only if it pushes the next frame itself.
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
  return flow_or_flushing(trans, submit(trans, is_discont, in));
}

// Moves the element and the output pool to the buffer's CUDA context if cuda-device-id allows it.
void follow_context(GstBaseTransform* trans, GstBuffer* buffer) {
  FilterState& state = state_of(trans);
  GstMemory* memory = cuda_memory_of(buffer);
  if (!state.slots || !state.session.should_move_to(memory))
    return;
  rebuild_filter(trans, [&] { state.session.move_to(memory); });
  gst_base_transform_reconfigure_src(trans);
}

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

bool has_default_layout(const FrameFormat& format, GstBuffer* buffer) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  for (int p = 0; meta && p < format.storage.frame.plane_count; ++p)
    if (meta->offset[p] != format.offset[p] || meta->stride[p] != format.stride[p])
      return false;
  return gst_buffer_get_size(buffer) == format.size;
}

// Returns true if an unchanged frame may be pushed in its own buffer: downstream must support the
// buffer's memory and strides. Throws ElementError if the buffer does not hold a whole frame.
bool may_reuse(const FilterState& state, GstBuffer* buffer) {
  if (!state.same_caps || gst_buffer_n_memory(buffer) == 0)
    return false;
  const bool cuda = cuda_memory_of(buffer) != nullptr;
  if (cuda != state.out().cuda_memory)
    return false;
  if (!cuda && !state.padding_allowed)
    return has_default_layout(state.out(), buffer);
  MappedBuffer::require_whole_frame(buffer, state.in());
  return true;
}

// Reports an exhausted pool. GstBaseTransform would post no error, or an error without the reason.
GstFlowReturn acquire_output(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out) {
  const ObjectPtr<GstBufferPool> pool(gst_base_transform_get_buffer_pool(trans));
  GstFlowReturn flow = GST_FLOW_ERROR;
  if (!pool || gst_buffer_pool_set_active(pool.get(), TRUE))
    flow = filter_parent_class()->prepare_output_buffer(trans, in, out);
  if (flow == GST_FLOW_ERROR && pool)
    refuse_output(state_of(trans).out());
  return flow;
}

GstFlowReturn prepare_output_buffer(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out) {
  return post_first_exception(trans, GST_FLOW_ERROR, [&] {
    FilterState& state = state_of(trans);
    if (!state.slots)
      return GST_FLOW_ERROR;
    if (state.missing) {
      state.action = FrameAction::nothing;
      *out = in;
      return GST_FLOW_OK;
    }
    state.action = class_of(trans)->begin_frame(filter(trans), state.info);
    state.regions.post_warning(GST_ELEMENT_CAST(trans));
    if (state.action != FrameAction::transform && may_reuse(state, in)) {
      *out = in;
      return GST_FLOW_OK;
    }
    return acquire_output(trans, in, out);
  });
}

// Returns what is done with the frame, for the debug log.
const char* description(const FilterState& state, bool in_place) {
  if (state.missing)
    return "a gap, pushed unchanged";
  if (state.action == FrameAction::transform)
    return "transformed";
  if (state.action == FrameAction::inspect)
    return in_place ? "inspected and pushed unchanged" : "inspected and copied";
  return in_place ? "pushed unchanged" : "copied unchanged";
}

// Enqueues the work on a frame: process() unless the action is `nothing`, and a copy of an
// unchanged frame unless input and output are the same buffer.
PendingGpuWork start_work(GstBaseTransform* trans, GstBuffer* in, GstBuffer* out) {
  FilterState& state = state_of(trans);
  const DeviceScope scope(state.session);
  const bool in_place = in == out;
  PendingGpuWork work = state.slots->map({state.stored ? nullptr : in}, {in_place ? nullptr : out});
  const ConstFrame input = state.stored ? *state.stored : work.input(0);
  const Frame* const output = work.output(0);
  const GstCudaVisionFilterClass* klass = class_of(trans);
  if (output && state.action != FrameAction::transform)
    for (int p = 0; p < state.in().layout.plane_count; ++p)
      state.session.device().copy(input.planes[p], output->planes[p]);
  if (state.action != FrameAction::nothing)
    klass->process(filter(trans), input, state.action == FrameAction::transform ? output : nullptr,
                   state.info);
  const bool reports = klass->needs_frame_done && klass->needs_frame_done(filter(trans));
  state.reports |= reports;
  work.end(reports);
  return work;
}

void report_frame_done(gpointer self) {
  if (class_of(self)->frame_done)
    class_of(self)->frame_done(filter(self));
}

GstFlowReturn transform(GstBaseTransform* trans, GstBuffer* in, GstBuffer* out) {
  return post_first_exception(trans, GST_FLOW_ERROR, [&] {
    FilterState& state = state_of(trans);
    GST_CAT_LOG_OBJECT(category_of(trans), trans, "frame %" GST_TIME_FORMAT ": %s",
                       GST_TIME_ARGS(GST_BUFFER_PTS(in)), description(state, in == out));
    PendingGpuWork work;
    if (in != out || state.action == FrameAction::inspect)
      work = start_work(trans, in, out);
    if (state.overlaps) {
      state.started = std::move(work);  // for push_frame()
    } else {
      work.complete();
      report_frame_done(trans);
    }
    return GST_FLOW_OK;
  });
}

// Pushes a processed frame. If `overlaps` is set, the pusher does so in its own thread. Exception:
// if the pusher is idle and the work in stream order, this thread pushes directly, which is faster.
GstFlowReturn push_frame(GstBaseTransform* trans, OwnedBuffer out) {
  FilterState& state = state_of(trans);
  // For POSITION queries. GstBaseTransform sets the position only for frames that it pushes itself.
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

// Returns a frame only in pull mode. If GstBaseTransform pushed some frames itself, it would mark
// them with the DISCONT flags of earlier frames that it did not push.
GstFlowReturn generate(GstBaseTransform* trans, GstBuffer** out) {
  FilterState& state = state_of(trans);
  // Read once for each frame, because another thread may stop the pusher.
  state.overlaps = state.pusher->started();
  if (GstBuffer* frame = trans->queued_buf) {
    state.missing = !state.stored && is_missing_frame(frame);
    state.info.buffer = frame;
    state.info.times = frame_times(trans->segment, frame);
    state.info.interlaced = state.slots && is_interlaced(state.in().info, frame);
  }
  const GstFlowReturn flow = filter_parent_class()->generate_output(trans, out);
  if (flow == GST_FLOW_OK && *out && !is_pulled(trans))
    return push_frame(trans, OwnedBuffer(std::exchange(*out, nullptr)));
  state.started = PendingGpuWork();  // GstBaseTransform has dropped the frame
  return flow;
}

GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  return flow_or_flushing(trans, generate(trans, out));
}

gboolean transform_meta(GstBaseTransform* trans, GstBuffer*, GstMeta* meta, GstBuffer*) {
  const FilterState& state = state_of(trans);
  const bool same_size = state.slots && state.in().layout.width == state.out().layout.width &&
                         state.in().layout.height == state.out().layout.height;
  return applies_to_output(meta, same_size);
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

GstFlowReturn flow_or_flushing(GstBaseTransform* trans, GstFlowReturn flow) {
  return flow == GST_FLOW_ERROR && is_flushing(trans) ? GST_FLOW_FLUSHING : flow;
}

void install_frames(GstBaseTransformClass* transform_class) {
  transform_class->before_transform = GST_DEBUG_FUNCPTR(before_transform);
  transform_class->prepare_output_buffer = GST_DEBUG_FUNCPTR(prepare_output_buffer);
  transform_class->transform = GST_DEBUG_FUNCPTR(transform);
  transform_class->submit_input_buffer = GST_DEBUG_FUNCPTR(submit_input_buffer);
  transform_class->generate_output = GST_DEBUG_FUNCPTR(generate_output);
  transform_class->transform_meta = GST_DEBUG_FUNCPTR(transform_meta);
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
  sync_values(trans, frame.get());  // controlled properties still have the values of a later frame
  trans->queued_buf = frame.release();
  GstBuffer* out = nullptr;
  const GstFlowReturn answer = generate_output(trans, &out);
  self->state->stored = nullptr;
  gst_clear_buffer(&out);  // a frame that has failed is not pushed
  return answer;
}
