// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereoaggregate.h"

#include <gst/video/video.h>

#include "gst/base/elementerror.h"
#include "gst/base/framemetas.h"
#include "gst/sgmstereo/framepairing.h"
#include "gst/sgmstereo/stereocaps.h"
#include "gst/sgmstereo/stereoevents.h"
#include "gst/sgmstereo/stereopads.h"

namespace cudavision {
namespace {

/* Steps */

GstClockTime max_skew_now(GstAggregator* self, GstBuffer* left) {
  const StereoState& state = stereo_state(self);
  const gint64 property = current_settings(self, state.settings).max_skew;
  const GstVideoInfo* info = state.left.format ? &state.left.format->info : nullptr;
  return max_skew_for(property, left ? GST_BUFFER_DURATION(left) : GST_CLOCK_TIME_NONE,
                      info ? info->fps_n : 0, info ? info->fps_d : 1);
}

void drop(GstAggregator* self, StereoInput& input, HeadFrame& frame) {
  StereoState& state = stereo_state(self);
  if (!frame.stream().frame->gap) {
    GST_DEBUG_OBJECT(input.pad, "no partner for %" GST_PTR_FORMAT, frame.buffer());
    GST_OBJECT_LOCK(self);
    ++input.dropped;
    GST_OBJECT_UNLOCK(self);
  }
  frame.consume();
  state.discont = true;
}

// The base class sends the segment with the first buffer only.
void announce_segment(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  const GstSegment segment = segment_of(state.left.pad);
  if (state.announced || segment.format == GST_FORMAT_UNDEFINED)
    return;
  gst_pad_push_event(self->srcpad, gst_event_new_segment(&segment));
  state.announced = true;
}

// Downstream hears that nothing comes for the time of a left frame.
void push_gap(GstAggregator* self, GstBuffer* left) {
  if (!GST_BUFFER_PTS_IS_VALID(left) || !gst_pad_has_current_caps(self->srcpad))
    return;
  announce_segment(self);
  gst_pad_push_event(self->srcpad,
                     gst_event_new_gap(GST_BUFFER_PTS(left), GST_BUFFER_DURATION(left)));
}

/* Making a map */

// Frames of another context: all that is ours moves there, the output pool included.
void follow_context(GstAggregator* self, GstBuffer* left, GstBuffer* right) {
  StereoState& state = stereo_state(self);
  const auto memory_of = [](GstBuffer* buffer) {
    return buffer && gst_buffer_n_memory(buffer) ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  };
  GstMemory* memory = memory_of(left);
  // Where the two are in different ones, the left's counts.
  if (memory && !is_cuda_memory(memory))
    memory = memory_of(right);
  if (!state.session.should_move_to(memory))
    return;
  stereo_release(self);
  state.session.move_to(memory);
  gst_aggregator_negotiate(self);
}

void configure(GstAggregator* self, const StereoSettings& settings) {
  StereoState& state = stereo_state(self);
  const bool packed = state.packing.packed();
  if (!packed)
    require_alike(*state.left.format, *state.right.format);
  state.rule.require(validation_error(settings));
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
    configure(self, settings);
  } else if (state.rule.allows(GST_ELEMENT_CAST(self), validation_error(settings))) {
    const DeviceScope scope(state.session);
    state.work->apply(settings);
  }
}

GstFlowReturn new_output(GstAggregator* self, GstBuffer** out) {
  GstBufferPool* pool = gst_aggregator_get_buffer_pool(self);
  if (!pool)
    return GST_FLOW_NOT_NEGOTIATED;
  GstFlowReturn flow = GST_FLOW_ERROR;
  if (gst_buffer_pool_set_active(pool, TRUE))
    flow = gst_buffer_pool_acquire_buffer(pool, out, nullptr);
  gst_object_unref(pool);
  if (flow == GST_FLOW_ERROR)
    throw ElementError(
        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "There is no memory for another frame (" + stereo_state(self).out->description() + ").");
  return flow;
}

// Times, flags and what else is still true are the left frame's.
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

bool comes_too_late(GstAggregator* self, const FrameTimes& times) {
  StereoState& state = stereo_state(self);
  GST_OBJECT_LOCK(self);
  const bool late = state.lateness.skips(times.running_time);
  GstMessage* message = late ? state.lateness.message(GST_ELEMENT_CAST(self), times) : nullptr;
  GST_OBJECT_UNLOCK(self);
  if (message)
    gst_element_post_message(GST_ELEMENT_CAST(self), message);
  return late;
}

/// right: nullptr where frames are packed.
GstFlowReturn make_map(GstAggregator* self, HeadFrame& left, HeadFrame* right) {
  StereoState& state = stereo_state(self);
  const bool known = state.left.format && (!right || state.right.format) && state.out;
  const FrameTimes times = left.times();
  gst_aggregator_selected_samples(self, times.timestamp, GST_BUFFER_DTS(left.buffer()),
                                  times.duration, nullptr);
  const auto consume = [&] {
    left.consume();
    if (right)
      right->consume();
  };
  if (known && comes_too_late(self, times)) {
    consume();
    state.discont = true;
    return GST_FLOW_OK;
  }
  consume();
  if (!known)
    return GST_FLOW_NOT_NEGOTIATED;
  stereo_report_latency(self);  // max-skew may be another one
  if (GST_CLOCK_TIME_IS_VALID(times.stream_time))
    gst_object_sync_values(GST_OBJECT_CAST(self), times.stream_time);
  follow_context(self, left.buffer(), right ? right->buffer() : nullptr);
  prepare_work(self);

  GstBuffer* out = nullptr;
  const GstFlowReturn flow = new_output(self, &out);
  if (flow != GST_FLOW_OK)
    return flow;
  try {
    const DeviceScope scope(state.session);
    state.work->run(left.buffer(), right ? right->buffer() : nullptr, out);
  } catch (...) {
    gst_buffer_unref(out);
    throw;
  }
  describe(self, left.buffer(), out);
  // Upstream may need them while downstream takes its time.
  left.release();
  if (right)
    right->release();
  state.announced = true;
  return gst_aggregator_finish_buffer(self, out);
}

GstFlowReturn aggregate_packed(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  stereo_require_unlinked(self);
  HeadFrame frame(state.left.pad);
  if (!frame.buffer())
    return frame.stream().ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  if (!frame.stream().frame->gap)
    return make_map(self, frame, nullptr);
  push_gap(self, frame.buffer());
  drop(self, state.left, frame);
  return GST_FLOW_OK;
}

GstFlowReturn aggregate_two(GstAggregator* self, bool timeout) {
  StereoState& state = stereo_state(self);
  HeadFrame left(state.left.pad), right(state.right.pad);
  const PairingStep step =
      next_step(left.stream(), right.stream(), max_skew_now(self, left.buffer()), timeout);
  switch (step) {
    case PairingStep::pair:
      return make_map(self, left, &right);
    case PairingStep::miss:
      push_gap(self, left.buffer());
      drop(self, state.left, left);
      drop(self, state.right, right);
      return GST_FLOW_OK;
    case PairingStep::drop_left:
      if (left.stream().frame->gap)
        push_gap(self, left.buffer());
      drop(self, state.left, left);
      return GST_FLOW_OK;
    case PairingStep::drop_right:
      drop(self, state.right, right);
      return GST_FLOW_OK;
    case PairingStep::end:
      if (left.buffer())
        drop(self, state.left, left);
      if (right.buffer())
        drop(self, state.right, right);
      return GST_FLOW_EOS;
    case PairingStep::wait:
      break;
  }
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

}  // namespace

GstFlowReturn stereo_aggregate(GstAggregator* self, bool timeout) {
  return stereo_state(self).packing.packed() ? aggregate_packed(self)
                                             : aggregate_two(self, timeout);
}

void stereo_end(GstAggregator* self, GstEvent* eos) {
  if (gst_pad_has_current_caps(self->srcpad))
    announce_segment(self);
  else
    gst_aggregator_set_src_caps(self, nullptr);  // sends what has to come before any caps
  GstEvent* end = gst_event_new_eos();
  gst_event_set_seqnum(end, gst_event_get_seqnum(eos));
  gst_pad_push_event(self->srcpad, end);
  stereo_state(self).ended = true;
}

GstClockTime stereo_next_time(GstAggregator* self) {
  const StereoState& state = stereo_state(self);
  const HeadFrame left(state.left.pad), right(state.right.pad);
  return pairing_deadline(left.stream(), right.stream(), max_skew_now(self, left.buffer()));
}

void stereo_release(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  if (!state.work)
    return;
  // Where the context cannot be entered any more, what was made in it is lost already, and only the
  // objects go.
  std::optional<DeviceScope> scope;
  try {
    scope.emplace(state.session);
  } catch (const std::exception& e) {
    GST_WARNING_OBJECT(self, "%s", e.what());
  }
  state.work.reset();
}

// By the rate of the frames: durations that differ by a nanosecond are no news to the pipeline.
void stereo_report_latency(GstAggregator* self) {
  const GstClockTime skew = stereo_state(self).packing.packed() ? 0 : max_skew_now(self, nullptr);
  // As much as no clock will ever see would overflow where latencies are added up.
  const GstClockTime latency = MIN(skew, 3600 * GST_SECOND);
  gst_aggregator_set_latency(self, latency, latency);
}

}  // namespace cudavision
