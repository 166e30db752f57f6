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
GstFlowReturn hand_on_oldest(GstBaseTransform* trans, GstBuffer* arriving) {
  FilterState& state = state_of(trans);
  FrameDelay& delay = state.delay;
  state.overlaps = state.pusher->started();
  if (state.overlaps) {
    const GstFlowReturn flow = state.pusher->wait_for_room();
    if (flow != GST_FLOW_OK) {
      wait_for_frames(trans);
      return flow;
    }
  }
  state.number = delay.oldest();
  const OwnedBuffer oldest = std::move(delay.waiting.front());
  delay.waiting.pop_front();
  begin_frame_at(trans, oldest.get());
  const GstBaseTransformClass* klass = GST_BASE_TRANSFORM_GET_CLASS(trans);
  GstBuffer* out = nullptr;
  GstFlowReturn flow = klass->prepare_output_buffer(trans, oldest.get(), &out);
  OwnedBuffer owned(out == oldest.get() ? gst_buffer_ref(out) : out);
  delay.arriving = arriving;
  if (flow == GST_FLOW_OK)
    flow = klass->transform(trans, oldest.get(), out);
  delay.arriving = nullptr;
  return flow == GST_FLOW_OK ? hand_on(trans, std::move(owned)) : flow;
}

// Remembers the first frames, none of which is processed yet. No frame is in flight then, whose
// lane this one might need.
GstFlowReturn remember_only(GstBaseTransform* trans, GstBuffer* arriving) {
  return post_first_exception(trans, GST_FLOW_ERROR, [&] {
    FilterState& state = state_of(trans);
    wait_for_frames(trans);
    const DeviceScope scope(state.session);
    state.frames->start_delayed({arriving, state.delay.arrived - 1}, nullptr, FrameWork::nothing)
        .complete();
    return GST_FLOW_OK;
  });
}

}  // namespace

GstFlowReturn delay_frame(GstBaseTransform* trans, OwnedBuffer in) {
  FrameDelay& delay = state_of(trans).delay;
  if (delay.interrupted)
    hand_on_delayed(trans);
  if (delay.flow != GST_FLOW_OK)
    return std::exchange(delay.flow, GST_FLOW_OK);
  GstBuffer* const arriving = is_missing_frame(in.get()) ? nullptr : in.get();
  delay.waiting.push_back(arriving ? without_memory(arriving)
                                   : OwnedBuffer(gst_buffer_ref(in.get())));
  ++delay.arrived;
  if (delay.waiting.size() > delay.ahead)
    return hand_on_oldest(trans, arriving);
  return arriving ? remember_only(trans, arriving) : GST_FLOW_OK;
}

void hand_on_delayed(gpointer self) {
  FrameDelay& delay = state_of(self).delay;
  while (!delay.waiting.empty() && delay.flow == GST_FLOW_OK)
    delay.flow = hand_on_oldest(GST_BASE_TRANSFORM_CAST(self), nullptr);
  drop_delayed(self);
}

void drop_delayed(gpointer self) {
  state_of(self).delay.waiting.clear();
  if (class_of(self)->forget_remembered)
    class_of(self)->forget_remembered(filter(self));
}

}  // namespace cudavision
