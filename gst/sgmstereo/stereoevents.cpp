// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereoevents.h"

#include "gst/base/elementerror.h"
#include "gst/sgmstereo/stereoaggregate.h"
#include "gst/sgmstereo/stereocaps.h"
#include "gst/sgmstereo/stereopads.h"

namespace cudavision {
namespace {

bool is_left(const StereoState& state, GstAggregatorPad* pad) {
  return pad == state.left.pad;
}

StereoInput& input_of(StereoState& state, GstAggregatorPad* pad) {
  return is_left(state, pad) ? state.left : state.right;
}

StereoInput& other_input(StereoState& state, GstAggregatorPad* pad) {
  return is_left(state, pad) ? state.right : state.left;
}

bool is_linked(const StereoInput& input) {
  return gst_pad_is_linked(GST_PAD_CAST(input.pad));
}

// Throws ElementError for frames that cannot be worked on, whatever comes on the other pad.
FramePacking examine(GstAggregator* self, bool left, const GstCaps* caps) {
  const FrameFormat format = frame_format_from_caps(caps);
  if (!left)
    return {};
  const FramePacking packing = packing_of(format.info, stereo_settings(self).frame_packing);
  const std::string wrong = wrong_with_halves(packing, format.layout.width, format.layout.height);
  if (!wrong.empty())
    throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, wrong);
  return packing;
}

Caps copy_of_arrived_caps(GstAggregator* self, const StereoInput& input) {
  GST_OBJECT_LOCK(self);
  Caps caps(input.caps ? gst_caps_ref(input.caps) : nullptr);
  GST_OBJECT_UNLOCK(self);
  return caps;
}

/* Arriving, in the streaming threads */

void end_unlinked(StereoState& state, GstEvent* segment) {
  if (!state.arrives_packed || is_linked(state.right))
    return;
  if (segment)
    gst_event_ref(segment);
  else
    segment = gst_pad_get_sticky_event(GST_PAD_CAST(state.left.pad), GST_EVENT_SEGMENT, 0);
  state.unlinked->end(segment);
  if (segment)
    gst_event_unref(segment);
}

void packing_arrives(GstAggregator* self, bool packed) {
  StereoState& state = stereo_state(self);
  state.arrives_packed = packed;
  if (is_linked(state.right))
    return;
  if (!packed) {
    state.unlinked->go_on();
    return;
  }
  state.alarm.cancel();
  GstEvent* segment = gst_pad_get_sticky_event(GST_PAD_CAST(state.left.pad), GST_EVENT_SEGMENT, 0);
  // Usually it comes after the caps, and ends the other pad's stream then.
  if (segment) {
    end_unlinked(state, segment);
    gst_event_unref(segment);
  }
}

void caps_arrive(GstAggregator* self, GstAggregatorPad* pad, GstCaps* caps) {
  StereoState& state = stereo_state(self);
  StereoInput& input = input_of(state, pad);
  const bool left = is_left(state, pad);
  const FramePacking packing = examine(self, left, caps);
  GST_OBJECT_LOCK(self);
  gst_caps_replace(&input.caps, caps);
  GST_OBJECT_UNLOCK(self);
  if (left)
    packing_arrives(self, packing.packed());
  const StereoInput& other = other_input(state, pad);
  if (!packing.packed() && !is_linked(other))
    state.alarm.set(GST_PAD_CAST(other.pad));
}

/* Coming, in the aggregating thread */

void caps_come(GstAggregator* self, GstAggregatorPad* pad, GstCaps* caps) {
  StereoState& state = stereo_state(self);
  StereoInput& input = input_of(state, pad);
  if (input.in_force && gst_caps_is_equal(input.in_force.get(), caps))
    return;
  stereo_release(self);
  input.format.reset();
  input.in_force.reset(gst_caps_ref(caps));
  const FramePacking packing = examine(self, is_left(state, pad), caps);
  input.format = frame_format_from_caps(caps);
  if (is_left(state, pad))
    state.packing = packing;
  if (state.packing.packed())
    stereo_require_unlinked(self);
  stereo_report_latency(self);
  gst_pad_mark_reconfigure(self->srcpad);
}

/* Queries */

void answer_caps(GstQuery* query, Caps caps) {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  if (filter)
    caps.reset(gst_caps_intersect_full(filter, caps.get(), GST_CAPS_INTERSECT_FIRST));
  gst_query_set_caps_result(query, caps.get());
}

Caps sink_caps(GstAggregator* self, GstAggregatorPad* pad) {
  const Caps other = copy_of_arrived_caps(self, other_input(stereo_state(self), pad));
  return Caps(stereo_sink_caps(other.get(), stereo_takes_cuda(self)));
}

// By the template, of which caps may leave out the rate, but for the size and depth that the other
// pad has: where both change theirs, one must be the first. What does not fit in the end is an
// error in words.
bool accepts(GstAggregator* self, GstAggregatorPad* pad, const GstCaps* caps) {
  const Caps all(stereo_sink_caps(nullptr, stereo_takes_cuda(self)));
  if (!gst_caps_can_intersect(caps, all.get()))
    return false;
  try {
    examine(self, is_left(stereo_state(self), pad), caps);
    return true;
  } catch (const ElementError& e) {
    // The caps will not even arrive, and so nobody else can say why.
    StereoInput& input = input_of(stereo_state(self), pad);
    GST_OBJECT_LOCK(self);
    const bool again = input.unacceptable == e.what();
    input.unacceptable = e.what();
    GST_OBJECT_UNLOCK(self);
    if (!again)
      post_warning(GST_ELEMENT_CAST(self), e.domain(), e.code(), e.what());
    return false;
  }
}

Caps src_caps(GstAggregator* self) {
  const StereoSettings settings = stereo_settings(self);
  const bool cuda = stereo_takes_cuda(self);
  const Caps left = copy_of_arrived_caps(self, stereo_state(self).left);
  if (left)
    try {
      const FramePacking packing = examine(self, true, left.get());
      return Caps(stereo_src_caps_for(left.get(), packing, settings.output, cuda));
    } catch (const ElementError& e) {
      GST_DEBUG_OBJECT(self, "%s", e.what());
    }
  return Caps(stereo_src_caps(settings.output, cuda));
}

}  // namespace

void stereo_require_unlinked(GstAggregator* self) {
  if (is_linked(stereo_state(self).right))
    throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                       "The frames on sink_left hold both pictures, and sink_right is linked as "
                       "well: unlink it, or, if these are frames of one camera, set "
                       "frame-packing=mono.");
}

void stereo_event_arrives(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = stereo_state(self);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      caps_arrive(self, pad, caps);
      break;
    }
    case GST_EVENT_SEGMENT:
      if (is_left(state, pad))
        end_unlinked(state, event);
      break;
    case GST_EVENT_EOS:
      if (is_left(state, pad))
        end_unlinked(state, nullptr);
      break;
    default:
      break;
  }
}

void stereo_flush_arrived(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = stereo_state(self);
  if (!is_left(state, pad))
    return;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    state.flushed = true;
  if (!is_linked(state.right))
    state.unlinked->flush(event);
}

void stereo_event_comes(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
    return;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  caps_come(self, pad, caps);
}

void stereo_event_came(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  StereoState& state = stereo_state(self);
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT && is_left(state, pad)) {
    const GstSegment segment = segment_of(pad);
    gst_aggregator_update_segment(self, &segment);
    state.announced = false;
    if (state.flushed.exchange(false))
      state.discont = true;
  }
  // The end of an unlinked pad is one that we have sent ourselves.
  const bool of_a_camera = is_left(state, pad) || is_linked(state.right);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS && of_a_camera && !state.arrives_packed &&
      !state.packing.packed())
    stereo_end(self, event);
}

bool stereo_answer_upstream(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS:
      answer_caps(query, sink_caps(self, pad));
      return true;
    case GST_QUERY_ACCEPT_CAPS: {
      GstCaps* caps = nullptr;
      gst_query_parse_accept_caps(query, &caps);
      gst_query_set_accept_caps_result(query, accepts(self, pad, caps));
      return true;
    }
    case GST_QUERY_CONTEXT:
      return stereo_state(self).session.handle_context_query(query);
    default:
      return false;
  }
}

bool stereo_answer_downstream(GstAggregator* self, GstQuery* query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS:
      answer_caps(query, src_caps(self));
      return true;
    case GST_QUERY_CONTEXT:
      return stereo_state(self).session.handle_context_query(query);
    default:
      return false;
  }
}

}  // namespace cudavision
