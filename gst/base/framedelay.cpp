// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/framedelay.h"

#include <utility>

#include "gst/base/filterstate.h"
#include "gst/base/framemetas.h"

namespace cudavision {
namespace {

// Returns a buffer without memory that has all else of a frame. The metas of memory stay behind, so
// that none keeps upstream's buffer.
OwnedBuffer without_memory(GstBuffer* frame) {
  OwnedBuffer buffer(gst_buffer_new());
  gst_buffer_copy_into(
      buffer.get(), frame,
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS), 0,
      static_cast<gsize>(-1));
  copy_metas(frame, buffer.get(), true);
  return buffer;
}

// Processes the oldest frame as GstBaseTransform does one that does not wait.
GstFlowReturn push_oldest(GstBaseTransform* trans) {
  FilterState& state = state_of(trans);
  FrameDelay& delay = state.delay;
  state.number = delay.oldest();
  const FrameDelay::Waiting oldest = std::move(delay.waiting.front());
  delay.waiting.pop_front();
  state.overlaps = state.pusher->started();
  if (state.overlaps) {
    const GstFlowReturn flow = state.pusher->wait_for_room();
    if (flow != GST_FLOW_OK) {
      wait_for_frames(trans);
      return flow;
    }
  }
  begin_frame_at(trans, oldest.buffer.get(), oldest.missing);
  const GstBaseTransformClass* klass = GST_BASE_TRANSFORM_GET_CLASS(trans);
  GstBuffer* out = nullptr;
  GstBuffer* const in = oldest.buffer.get();
  GstFlowReturn flow = klass->prepare_output_buffer(trans, in, &out);
  OwnedBuffer owned(out == in ? gst_buffer_ref(out) : out);
  if (flow == GST_FLOW_OK)
    flow = klass->transform(trans, in, out);
  return flow == GST_FLOW_OK ? push_frame(trans, std::move(owned)) : flow;
}

// Lets a frame wait. If the element cannot store it as a reference, the frames before it go
// downstream first; if one of these fails as well, its error is the only one.
bool let_wait(GstBaseTransform* trans, GstBuffer* frame) {
  return post_first_exception(trans, false, [&] {
    FilterState& state = state_of(trans);
    FrameDelay& delay = state.delay;
    // There are none if the properties have changed and the element could not be built anew.
    if (!state.frames)
      return false;
    const bool missing = is_missing_frame(frame);
    OwnedBuffer waits = missing ? OwnedBuffer(gst_buffer_ref(frame)) : without_memory(frame);
    if (!missing) {
      try {
        const DeviceScope scope(state.session);
        state.frames->store_reference(frame, delay.arrived);
      } catch (...) {
        push_delayed(trans);
        if (delay.flow == GST_FLOW_ERROR)
          return false;
        throw;
      }
    }
    delay.waiting.push_back({std::move(waits), missing});
    ++delay.arrived;
    return true;
  });
}

// Waits until the element has stored the last frame as a reference, unless that was known before a
// frame was processed. Upstream then has its buffer back.
bool complete_arrival(GstBaseTransform* trans) {
  return post_first_exception(trans, false, [&] {
    FilterState& state = state_of(trans);
    if (state.frames) {
      const DeviceScope scope(state.session);
      state.frames->complete_arrival();
    }
    return true;
  });
}

}  // namespace

GstFlowReturn delay_frame(GstBaseTransform* trans, OwnedBuffer in) {
  FrameDelay& delay = state_of(trans).delay;
  if (delay.interrupted)
    push_delayed(trans);
  // Downstream may have been linked since; else the next frame that is pushed tells.
  const GstFlowReturn flow = std::exchange(delay.flow, GST_FLOW_OK);
  if (flow != GST_FLOW_OK && flow != GST_FLOW_NOT_LINKED)
    return flow;
  if (!let_wait(trans, in.get()))
    return GST_FLOW_ERROR;
  in.reset();
  const GstFlowReturn pushed =
      delay.waiting.size() > delay.ahead ? push_oldest(trans) : GST_FLOW_OK;
  return complete_arrival(trans) ? pushed : GST_FLOW_ERROR;
}

void push_delayed(gpointer self) {
  FrameDelay& delay = state_of(self).delay;
  while (!delay.waiting.empty() && delay.flow == GST_FLOW_OK)
    delay.flow = push_oldest(GST_BASE_TRANSFORM_CAST(self));
  drop_delayed(self);
}

void drop_delayed(gpointer self) {
  state_of(self).delay.waiting.clear();
  state_of(self).delay.interrupted = false;
  if (class_of(self)->clear_references)
    class_of(self)->clear_references(filter(self));
}

}  // namespace cudavision
