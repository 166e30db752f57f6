// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereooutput.h"

#include <gst/video/video.h>

#include "gst/base/elementerror.h"
#include "gst/base/framemetas.h"

namespace cudavision {
namespace {

// Moves everything, the output pool included, to the context of the frames if that is another one.
// If the two frames are in different contexts, the left one's counts. right: nullptr if there is
// none. Without a new negotiation, the output would go on in the pool of the old context, so if
// that fails, the answer is GstAggregator's own.
GstFlowReturn follow_context(GstAggregator* self, GstBuffer* left, GstBuffer* right) {
  StereoState& state = stereo_state(self);
  GstMemory* memory = cuda_memory_of(left);
  if (!memory && right)
    memory = cuda_memory_of(right);
  if (!state.session.should_move_to(memory))
    return GST_FLOW_OK;
  stereo_release_work(self);
  state.session.move_to(memory);
  if (gst_aggregator_negotiate(self))
    return GST_FLOW_OK;
  return GST_PAD_IS_FLUSHING(self->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
}

void make_work(GstAggregator* self, const StereoSettings& settings) {
  StereoState& state = stereo_state(self);
  const bool packed = state.packing.packed();
  state.guard.require(validation_error(settings));
  const FrameFormat& right = packed ? *state.left.format : *state.right.format;
  GST_DEBUG_OBJECT(self, "%s and %s to %s on %s", state.left.format->description().c_str(),
                   packed ? "the same" : right.description().c_str(),
                   state.out->description().c_str(), state.session.on_cuda() ? "CUDA" : "the CPU");
  const DeviceScope scope(state.session);
  state.work = std::make_unique<StereoWork>(state.session, *state.left.format, right, state.packing,
                                            *state.out, settings);
}

void prepare_work(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  const StereoSettings settings = stereo_settings(self);
  if (!state.work) {
    make_work(self, settings);
  } else if (state.guard.allows(GST_ELEMENT_CAST(self), validation_error(settings))) {
    const DeviceScope scope(state.session);
    state.work->apply(settings);
  }
}

GstFlowReturn acquire_output(GstAggregator* self, GstBuffer** out) {
  const ObjectPtr<GstBufferPool> pool(gst_aggregator_get_buffer_pool(self));
  if (!pool)
    return GST_FLOW_NOT_NEGOTIATED;
  GstFlowReturn flow = GST_FLOW_ERROR;
  if (gst_buffer_pool_set_active(pool.get(), TRUE))
    flow = gst_buffer_pool_acquire_buffer(pool.get(), out, nullptr);
  if (flow == GST_FLOW_ERROR)
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                       "There is no memory for another output frame (" +
                           stereo_state(self).out->description() +
                           "): free some, or let fewer frames queue up downstream.");
  return flow;
}

// Gives the output the times and flags of the left frame, and those of its metas that still apply.
void describe(GstAggregator* self, GstBuffer* left, GstBuffer* out) {
  StereoState& state = stereo_state(self);
  gst_buffer_copy_into(
      out, left,
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS), 0,
      static_cast<gsize>(-1));
  copy_metas(left, out, !state.packing.packed());
  GST_BUFFER_FLAG_UNSET(out, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW);
  if (state.discont)
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_DISCONT);
  state.discont = false;
}

// GstAggregator sends the segment with the first buffer only, so gaps and EOS need this.
void send_segment(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  const GstSegment segment = current_segment(state.left.pad);
  if (state.segment_sent || segment.format == GST_FORMAT_UNDEFINED)
    return;
  gst_pad_push_event(self->srcpad, gst_event_new_segment(&segment));
  state.segment_sent = true;
}

}  // namespace

GstFlowReturn stereo_push_output(GstAggregator* self, HeadFrame& left, HeadFrame* right) {
  StereoState& state = stereo_state(self);
  GstFlowReturn flow = follow_context(self, left.buffer(), right ? right->buffer() : nullptr);
  if (flow != GST_FLOW_OK)
    return flow;
  prepare_work(self);

  GstBuffer* out = nullptr;
  flow = acquire_output(self, &out);
  if (flow != GST_FLOW_OK)
    return flow;
  const FrameTimes times = left.times();
  const bool inspect = state.diagnostics.selects(times, stereo_settings(self).diagnostics_interval);
  try {
    const DeviceScope scope(state.session);
    state.work->run(left.buffer(), right ? right->buffer() : nullptr, out, inspect);
  } catch (...) {
    gst_buffer_unref(out);
    throw;
  }
  describe(self, left.buffer(), out);
  // Pushing may take long, and meanwhile upstream may need these buffers back.
  left.release();
  if (right)
    right->release();
  if (inspect)
    state.diagnostics.report(times, state.work->settings(), state.work->snapshot());
  state.segment_sent = true;
  return gst_aggregator_finish_buffer(self, out);
}

void stereo_push_gap(GstAggregator* self, GstBuffer* left) {
  if (!GST_BUFFER_PTS_IS_VALID(left) || !gst_pad_has_current_caps(self->srcpad))
    return;
  send_segment(self);
  gst_pad_push_event(self->srcpad,
                     gst_event_new_gap(GST_BUFFER_PTS(left), GST_BUFFER_DURATION(left)));
}

void stereo_push_eos(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  if (gst_pad_has_current_caps(self->srcpad))
    send_segment(self);
  else
    gst_aggregator_set_src_caps(self, nullptr);  // sends STREAM_START and what else precedes caps
  GST_DEBUG_OBJECT(self, "no further pair can form: EOS");
  GstEvent* eos = gst_event_new_eos();
  gst_event_set_seqnum(eos, state.eos_seqnum);
  gst_pad_push_event(self->srcpad, eos);
  state.eos_sent = true;
}

void stereo_restart_output(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  GST_DEBUG_OBJECT(self, "a new stream after the end of the last one");
  gchar* id = g_strdup_printf("cudasgmstereo-%08x", g_random_int());
  gst_pad_push_event(self->srcpad, gst_event_new_stream_start(id));
  g_free(id);
  if (const Caps caps{gst_pad_get_current_caps(self->srcpad)})
    gst_pad_push_event(self->srcpad, gst_event_new_caps(caps.get()));
  state.eos_sent = false;
  state.discont = true;
  if (state.renegotiate)
    gst_pad_mark_reconfigure(self->srcpad);
  stereo_apply_segment(self);
}

void stereo_apply_segment(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  const GstSegment segment = current_segment(state.left.pad);
  if (segment.format == GST_FORMAT_UNDEFINED)
    return;
  gst_aggregator_update_segment(self, &segment);
  state.segment_sent = false;
}

}  // namespace cudavision
