// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pads/padqueries.h"

#include "gst/base/allocationquery.h"
#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pads/sourcecaps.h"
#include "gst/sgmstereo/pads/stereocaps.h"

namespace cudavision {
namespace {

// Returns the caps that the peer of a pad can send, or nullptr if there is no peer.
Caps possible_peer_caps(GstAggregator* self, const StereoSinkPad& sink) {
  // To answer this query the peer may send others, which must not lead back here.
  static thread_local bool asking = false;
  if (asking || !sink.is_linked())
    return nullptr;
  const Caps all = stereo_sink_caps(stereo_state(self).session.takes_cuda());
  asking = true;
  Caps caps = peer_caps(GST_PAD_CAST(sink.pad), all.get());
  asking = false;
  return caps;
}

// Returns the caps that a pad offers to its peer. The filter tells what the peer can send. If that
// includes frames that fit those of the other pad, the pad offers only these. Otherwise it offers
// all: if both pads are to change, one must change first, and if the frames never fit, they must
// arrive for the element to post an error that names both.
//
// Before the other pad has caps, those that its peer can send count. If they leave a choice, as for
// a scaler beside a decoder that has not read its file yet, the pad waits for the other pad's caps.
Caps possible_sink_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* filter) {
  StereoState& state = stereo_state(self);
  const StereoSinkPad& other = state.other_sink(pad);
  const bool cuda = state.session.takes_cuda();
  const bool peer_known = filter && !gst_caps_is_any(filter);
  const auto fitting = [&](const Caps& other_caps) {
    return filtered(stereo_sink_caps_for(other_caps.get(), cuda), filter);
  };
  Caps all = filtered(stereo_sink_caps(cuda), filter);
  Caps other_caps = stereo_arrived_caps(self, other.pad);
  if (!other_caps && peer_known) {
    other_caps = possible_peer_caps(self, other);
    if (other_caps && GST_PAD_IS_ACTIVE(pad) && leaves_choice(fitting(other_caps).get())) {
      state.arrival.wait([&] { return stereo_arrived_caps(self, other.pad) != nullptr; });
      other_caps = stereo_arrived_caps(self, other.pad);
      // If the other pad is waiting too, its peer knows more by now.
      if (!other_caps)
        other_caps = possible_peer_caps(self, other);
    }
  }
  if (!other_caps)
    return all;
  Caps caps = fitting(other_caps);
  if (peer_known && !gst_caps_is_empty(caps.get()))
    return caps;
  return Caps(gst_caps_merge(caps.release(), all.release()));
}

// Answers from the pad template alone. Caps may lack fields such as the framerate that the answer
// to a CAPS query names. A size or depth that differs from the other pad's is accepted, because if
// both pads are to change, one must change first. Frames that cannot be split are accepted too:
// GstPad would refuse their CAPS event without a reason, and stereo_store_arrived_caps() gives one.
bool accepts_caps(GstAggregator* self, const GstCaps* caps) {
  return gst_caps_can_intersect(caps,
                                stereo_sink_caps(stereo_state(self).session.takes_cuda()).get());
}

}  // namespace

FramePacking stereo_store_arrived_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* caps) {
  StereoState& state = stereo_state(self);
  const FramePacking packing = stereo_check_caps(self, pad, caps);
  GST_INFO_OBJECT(pad, "%" GST_PTR_FORMAT, caps);
  const StereoSinkPad& other = state.other_sink(pad);
  Caps other_caps;
  Caps arrived(gst_caps_ref(caps));
  {
    // One lock, so that of two caps that arrive at the same time the later one finds the other.
    const auto shared = state.shared.lock();
    arrived.swap(shared->sides[state.side_of(pad)].arrived_caps);
    if (const Caps& others = shared->sides[state.side_of(other.pad)].arrived_caps)
      other_caps.reset(gst_caps_ref(others.get()));
  }
  state.arrival.notify();
  const Caps fitting = stereo_sink_caps_for(caps, stereo_state(self).session.takes_cuda());
  if (!packing.packed() && other_caps && !gst_caps_can_intersect(other_caps.get(), fitting.get())) {
    GST_INFO_OBJECT(other.pad, "asking upstream to adapt %" GST_PTR_FORMAT, other_caps.get());
    gst_pad_push_event(GST_PAD_CAST(other.pad), gst_event_new_reconfigure());
  }
  return packing;
}

gboolean stereo_sink_query(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    switch (GST_QUERY_TYPE(query)) {
      case GST_QUERY_CAPS: {
        GstCaps* filter = nullptr;
        gst_query_parse_caps(query, &filter);
        gst_query_set_caps_result(query, possible_sink_caps(self, pad, filter).get());
        GST_DEBUG_OBJECT(pad, "%" GST_PTR_FORMAT, query);
        return TRUE;
      }
      case GST_QUERY_ACCEPT_CAPS: {
        GstCaps* caps = nullptr;
        gst_query_parse_accept_caps(query, &caps);
        gst_query_set_accept_caps_result(query, accepts_caps(self, caps));
        return TRUE;
      }
      default:
        return stereo_state(self).session.handle_context_query(query) ||
               stereo_parent_class()->sink_query(self, pad, query);
    }
  });
}

gboolean stereo_src_query(GstAggregator* self, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS)
    return stereo_answer_src_caps(self, stereo_settings(self).output, query);
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    return stereo_state(self).session.handle_context_query(query) ||
           stereo_parent_class()->src_query(self, query);
  });
}

GstCaps* stereo_fixate_src_caps(GstAggregator* self, GstCaps* caps) {
  return stereo_fixated_caps(Caps(caps), self->srcpad).release();
}

gboolean stereo_propose_allocation(GstAggregator* self, GstAggregatorPad*, GstQuery*,
                                   GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    const DeviceSession& session = stereo_state(self).session;
    const DeviceKind backend = session.on_cuda() ? DeviceKind::cuda : DeviceKind::cpu;
    // The memory of the other frames is not known yet; they may have to be waited for.
    const std::size_t maximum = stereo_settings(self).max_in_flight(backend, false);
    return propose_pool(query, session, maximum > 1 ? maximum : 0);
  });
}

}  // namespace cudavision
