// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereonegotiation.h"

#include "gst/base/caps.h"
#include "gst/base/elementerror.h"
#include "gst/memory/allocationquery.h"
#include "gst/sgmstereo/stereoaggregate.h"
#include "gst/sgmstereo/stereocaps.h"

namespace cudavision {
namespace {

// How the frames of a pad are packed. Throws ElementError for frames that the element cannot
// process whatever the other pad gets.
FramePacking check_caps(GstAggregator* self, const GstAggregatorPad* pad, const GstCaps* caps) {
  const FrameFormat format = frame_format_from_caps(caps);
  if (!stereo_state(self).is_left(pad))
    return {};
  const FramePacking packing = packing_of(format.info, stereo_settings(self).frame_packing);
  const std::string error = split_error(packing, format.layout.width, format.layout.height);
  if (!error.empty())
    throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, error);
  return packing;
}

Caps arrived_caps(GstAggregator* self, const StereoInput& input) {
  const ObjectLock lock(self);
  return Caps(input.arrived_caps ? gst_caps_ref(input.arrived_caps.get()) : nullptr);
}

/* Queries */

GstCaps* filter_of(GstQuery* query) {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  return filter;
}

// What the peer of a pad can send; nullptr if there is none.
Caps possible_peer_caps(GstAggregator* self, const StereoInput& input) {
  // If the peer asks in turn to answer this, that query must not lead back here.
  static thread_local bool asking = false;
  if (asking || !input.is_linked())
    return nullptr;
  asking = true;
  Caps caps(gst_pad_peer_query_caps(GST_PAD_CAST(input.pad),
                                    stereo_sink_caps(stereo_takes_cuda(self)).get()));
  asking = false;
  return caps;
}

// The filter says what the peer can send. If it can send frames that fit those of the other pad,
// the pad offers these alone. Otherwise it offers all: if both pads are to change, one must change
// first, and if the frames never fit, both must arrive for the element to say so.
//
// Before the other pad has caps, what its peer can send counts. If that leaves a choice, as it does
// for a scaler beside a decoder that has not seen its file yet, waits a little for these caps.
Caps possible_sink_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* filter) {
  StereoState& state = stereo_state(self);
  const StereoInput& other = state.other_input(pad);
  const bool cuda = stereo_takes_cuda(self);
  const bool peer_known = filter && !gst_caps_is_any(filter);
  const auto fitting = [&](const Caps& other_caps) {
    return filtered(stereo_sink_caps_for(other_caps.get(), cuda), filter);
  };
  Caps all = filtered(stereo_sink_caps(cuda), filter);
  Caps other_caps = arrived_caps(self, other);
  if (!other_caps && peer_known) {
    other_caps = possible_peer_caps(self, other);
    if (other_caps && GST_PAD_IS_ACTIVE(pad) && leaves_choice(fitting(other_caps).get())) {
      state.arrival.wait([&] { return arrived_caps(self, other) != nullptr; });
      if (Caps arrived = arrived_caps(self, other))
        other_caps = std::move(arrived);
    }
  }
  if (!other_caps)
    return all;
  Caps caps = fitting(other_caps);
  if (peer_known && !gst_caps_is_empty(caps.get()))
    return caps;
  return Caps(gst_caps_merge(caps.release(), all.release()));
}

Caps possible_src_caps(GstAggregator* self) {
  const StereoInput& left = stereo_state(self).left;
  const StereoOutput output = stereo_settings(self).output;
  const bool cuda = stereo_takes_cuda(self);
  if (const Caps caps = arrived_caps(self, left)) {
    try {
      return stereo_src_caps_for(caps.get(), check_caps(self, left.pad, caps.get()), output, cuda);
    } catch (const ElementError& e) {
      GST_DEBUG_OBJECT(self, "%s", e.what());
    }
  }
  return stereo_src_caps(output, cuda);
}

// Accepts another size or depth than the other pad has: if both pads are to change, one must change
// first. If they still differ when their frames meet, that is an error. The template decides, as
// caps may lack fields such as the framerate that the CAPS query names.
bool accepts_caps(GstAggregator* self, GstAggregatorPad* pad, const GstCaps* caps) {
  const Caps all = stereo_sink_caps(stereo_takes_cuda(self));
  if (!gst_caps_can_intersect(caps, all.get()))
    return false;
  try {
    check_caps(self, pad, caps);
    return true;
  } catch (const ElementError& e) {
    // Upstream will not send these caps, so this is the only chance to say why.
    StereoInput& input = stereo_state(self).input(pad);
    bool repeated = false;
    {
      const ObjectLock lock(self);
      repeated = input.last_refusal == e.what();
      input.last_refusal = e.what();
    }
    if (!repeated)
      post_warning(GST_ELEMENT_CAST(self), e.domain(), e.code(), e.what());
    return false;
  }
}

}  // namespace

FramePacking stereo_store_arrived_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* caps) {
  StereoState& state = stereo_state(self);
  const FramePacking packing = check_caps(self, pad, caps);
  GST_INFO_OBJECT(pad, "%" GST_PTR_FORMAT, caps);
  const StereoInput& other = state.other_input(pad);
  Caps other_caps;
  {
    // Under one lock: of two caps that arrive at the same time, one finds the other.
    const ObjectLock lock(self);
    state.input(pad).arrived_caps.reset(gst_caps_ref(caps));
    if (other.arrived_caps)
      other_caps.reset(gst_caps_ref(other.arrived_caps.get()));
  }
  state.arrival.notify();
  const Caps fitting = stereo_sink_caps_for(caps, stereo_takes_cuda(self));
  if (!packing.packed() && other_caps && !gst_caps_can_intersect(other_caps.get(), fitting.get())) {
    GST_INFO_OBJECT(other.pad, "asking upstream to adapt %" GST_PTR_FORMAT, other_caps.get());
    gst_pad_push_event(GST_PAD_CAST(other.pad), gst_event_new_reconfigure());
  }
  return packing;
}

void stereo_forget_arrived_caps(GstAggregator* self, GstAggregatorPad* pad) {
  StereoInput& input = stereo_state(self).input(pad);
  const ObjectLock lock(self);
  input.arrived_caps.reset();
  input.last_refusal.clear();
}

void stereo_apply_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* caps) {
  StereoState& state = stereo_state(self);
  StereoInput& input = state.input(pad);
  if (input.caps && gst_caps_is_equal(input.caps.get(), caps))
    return;
  stereo_release_work(self);
  // A held frame has the old caps, and its partner is hardly more than a frame away.
  stereo_drop_held(self, input);
  input.format.reset();
  input.caps.reset(gst_caps_ref(caps));
  const FramePacking packing = check_caps(self, pad, caps);
  input.format = frame_format_from_caps(caps);
  if (state.is_left(pad))
    state.packing = packing;
  if (state.packing.packed())
    require_unlinked(GST_PAD_CAST(state.right.pad));
  stereo_update_latency(self);
  gst_pad_mark_reconfigure(self->srcpad);
}

gboolean stereo_sink_query(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    switch (GST_QUERY_TYPE(query)) {
      case GST_QUERY_CAPS:
        gst_query_set_caps_result(query, possible_sink_caps(self, pad, filter_of(query)).get());
        GST_DEBUG_OBJECT(pad, "%" GST_PTR_FORMAT, query);
        return TRUE;
      case GST_QUERY_ACCEPT_CAPS: {
        GstCaps* caps = nullptr;
        gst_query_parse_accept_caps(query, &caps);
        gst_query_set_accept_caps_result(query, accepts_caps(self, pad, caps));
        return TRUE;
      }
      case GST_QUERY_CONTEXT:
        if (stereo_state(self).session.handle_context_query(query))
          return TRUE;
        break;
      default:
        break;
    }
    return stereo_parent_class()->sink_query(self, pad, query);
  });
}

gboolean stereo_src_query(GstAggregator* self, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    switch (GST_QUERY_TYPE(query)) {
      case GST_QUERY_CAPS:
        gst_query_set_caps_result(query, filtered(possible_src_caps(self), filter_of(query)).get());
        return TRUE;
      case GST_QUERY_CONTEXT:
        if (stereo_state(self).session.handle_context_query(query))
          return TRUE;
        break;
      default:
        break;
    }
    return stereo_parent_class()->src_query(self, query);
  });
}

GstFlowReturn stereo_update_src_caps(GstAggregator* self, GstCaps* downstream, GstCaps** result) {
  return post_exceptions(self, GST_FLOW_NOT_NEGOTIATED, [&] {
    StereoState& state = stereo_state(self);
    state.renegotiate = state.eos_sent;
    if (state.eos_sent || !state.left.format)
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    // While the pictures differ there is no output; as soon as one pad's caps change, the src caps
    // are negotiated again.
    if (!state.packing.packed() &&
        (!state.right.format || !pair_error(*state.left.format, *state.right.format).empty()))
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    const Caps possible =
        stereo_src_caps_for(state.left.caps.get(), state.packing, stereo_settings(self).output,
                            stereo_takes_cuda(self));
    *result = gst_caps_intersect_full(possible.get(), downstream, GST_CAPS_INTERSECT_FIRST);
    return GST_FLOW_OK;
  });
}

// The memory that the peer names, then the first format.
GstCaps* stereo_fixate_src_caps(GstAggregator* self, GstCaps* caps) {
  caps = gst_caps_make_writable(choose_memory(Caps(caps), self->srcpad).release());
  if (gst_caps_is_empty(caps))
    return caps;
  GstStructure* structure = gst_caps_get_structure(caps, 0);
  // Frames without a framerate get 0/1, which means unknown, and not the lowest that downstream
  // accepts.
  gst_structure_fixate_field_nearest_fraction(structure, "framerate", 0, 1);
  if (gst_structure_has_field(structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction(structure, "pixel-aspect-ratio", 1, 1);
  return gst_caps_fixate(caps);
}

gboolean stereo_negotiated_src_caps(GstAggregator* self, GstCaps* caps) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    stereo_release_work(self);
    stereo_state(self).out = frame_format_from_caps(caps);
    return TRUE;
  });
}

gboolean stereo_decide_allocation(GstAggregator* self, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    decide_pool(query, stereo_state(self).session, *stereo_state(self).out);
    return TRUE;
  });
}

gboolean stereo_propose_allocation(GstAggregator* self, GstAggregatorPad*, GstQuery*,
                                   GstQuery* query) {
  return post_exceptions(
      self, FALSE, [&]() -> gboolean { return propose_pool(query, stereo_state(self).session); });
}

}  // namespace cudavision
