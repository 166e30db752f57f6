// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pads/padqueries.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cuda/remap/remap.h"
#include "gst/base/allocationquery.h"
#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/text.h"
#include "gst/sgmstereo/pads/stereocaps.h"

namespace cudavision {
namespace {

std::string rectification_error(const StereoSettings& settings, const PictureSize& picture) {
  const bool calibrated = settings.calibration.automatic() || settings.calibration.any();
  const bool rectifies = calibrated || settings.drift() == CalibrationDrift::correct;
  if (!rectifies || std::max(picture.width, picture.height) <= remap::largest_picture)
    return {};
  return "Pictures of " + size_text(picture.width, picture.height) +
         " are too large to be rectified: width and height can be at most " +
         std::to_string(remap::largest_picture) +
         " pixels. Put videoscale before the element, or " +
         (calibrated ? "rectify the pictures upstream and leave calibration empty."
                     : "set calibration-drift=warn.");
}

Caps possible_src_caps(GstAggregator* self, StereoOutput output) {
  StereoState& state = stereo_state(self);
  const GstAggregatorPad* left = state.left.pad;
  const bool cuda = state.session.takes_cuda();
  if (const Caps caps = stereo_arrived_caps(self, left)) {
    try {
      return stereo_src_caps_for(caps.get(), stereo_check_caps(self, left, caps.get()), output,
                                 cuda);
    } catch (const ElementError& e) {
      GST_DEBUG_OBJECT(self, "%s", e.what());
    }
  }
  return stereo_src_caps(output, cuda);
}

Caps possible_peer_caps(GstAggregator* self, const StereoSinkPad& sink) {
  // To answer this query, the peer may query this element: `asking` prevents endless recursion.
  static thread_local bool asking = false;
  if (asking || !sink.is_linked())
    return nullptr;
  const Caps all = video_template_caps(stereo_state(self).session.takes_cuda());
  asking = true;
  Caps caps = peer_caps(GST_PAD_CAST(sink.pad), all.get());
  asking = false;
  return caps;
}

// `filter` has the caps that the peer can send. If some of them fit the other pad's caps, offers
// only these. Otherwise offers all caps, because one of two pads must change first. If the other
// pad has no caps yet, the possible caps of its peer are used. If these leave a choice, waits for
// the other pad's caps, which may be late, for example if a decoder has not read its file yet.
Caps possible_sink_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* filter) {
  StereoState& state = stereo_state(self);
  const StereoSinkPad& other = state.other_sink(pad);
  const bool cuda = state.session.takes_cuda();
  const bool peer_known = filter && !gst_caps_is_any(filter);
  const auto compatible = [&](const Caps& other_caps) {
    return filtered(stereo_sink_caps_for(other_caps.get(), cuda), filter);
  };
  Caps all = filtered(video_template_caps(cuda), filter);
  Caps other_caps = stereo_arrived_caps(self, other.pad);
  if (!other_caps && peer_known) {
    other_caps = possible_peer_caps(self, other);
    if (other_caps && GST_PAD_IS_ACTIVE(pad) && leaves_choice(compatible(other_caps).get())) {
      state.arrival.wait([&] { return stereo_arrived_caps(self, other.pad) != nullptr; });
      other_caps = stereo_arrived_caps(self, other.pad);
      if (!other_caps)  // no caps arrived, but the peer's possible caps may have changed
        other_caps = possible_peer_caps(self, other);
    }
  }
  if (!other_caps)
    return all;
  Caps caps = compatible(other_caps);
  if (peer_known && !gst_caps_is_empty(caps.get()))
    return caps;
  return Caps(gst_caps_merge(caps.release(), all.release()));
}

}  // namespace

FramePacking stereo_check_caps(GstAggregator* self, const GstAggregatorPad* pad,
                               const GstCaps* caps) {
  const FrameFormat format = frame_format_from_caps(caps);
  if (!stereo_state(self).is_left(pad))
    return {};
  const StereoSettings settings = stereo_settings(self);
  const FramePacking packing = packing_of(format.info, settings.frame_packing);
  const int width = format.layout.width, height = format.layout.height;
  for (const std::string& error :
       {split_error(packing, width, height),
        rectification_error(settings, picture_size(packing, width, height))})
    if (!error.empty())
      refuse_stream(error);
  return packing;
}

gboolean stereo_answer_src_caps(GstAggregator* self, StereoOutput output, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    GstCaps* filter = nullptr;
    gst_query_parse_caps(query, &filter);
    gst_query_set_caps_result(query, filtered(possible_src_caps(self, output), filter).get());
    return TRUE;
  });
}

Caps stereo_common_caps(GstAggregator* self, GstPad* source_pad, StereoOutput output,
                        GstCaps* possible) {
  Caps common = peer_caps(source_pad, possible);
  if (!gst_caps_is_empty(common.get()))
    return common;
  const Caps taken = peer_caps(source_pad, nullptr);
  const std::string name = text_of(GST_PAD_NAME(source_pad));
  const auto error = [](const std::string& text) {
    return ElementError(GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION, text);
  };
  if (!stereo_state(self).session.takes_cuda() &&
      gst_caps_can_intersect(taken.get(), stereo_src_caps(output, true).get()) &&
      !gst_caps_can_intersect(taken.get(), stereo_src_caps(output, false).get()))
    throw error(needs_cuda_memory_text("The peer of pad " + name));
  const bool on_request =
      GST_PAD_TEMPLATE_PRESENCE(GST_PAD_PAD_TEMPLATE(source_pad)) == GST_PAD_REQUEST;
  throw error("Downstream accepts none of the caps of the pad " + name +
              " (offered: " + caps_text(possible) + "): " +
              (output == StereoOutput::points
                   ? "link an element that takes tensors, such as appsink"
                   : "put \"videoconvert ! videoscale\" after the pad") +
              (on_request ? ", or release the pad." : "."));
}

Caps stereo_fixated_caps(Caps possible, GstPad* source_pad) {
  Caps caps(gst_caps_make_writable(choose_memory(std::move(possible), source_pad).release()));
  if (gst_caps_is_empty(caps.get()))
    return caps;
  GstStructure* structure = gst_caps_get_structure(caps.get(), 0);
  // Unknown framerates become 0/1 or, if downstream does not accept it, the lowest framerate.
  if (gst_structure_has_field(structure, "framerate"))
    gst_structure_fixate_field_nearest_fraction(structure, "framerate", 0, 1);
  if (gst_structure_has_field(structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction(structure, "pixel-aspect-ratio", 1, 1);
  return Caps(gst_caps_fixate(caps.release()));
}

bool stereo_peer_refuses_current_caps(GstPad* pad) {
  const ObjectPtr<GstPad> peer(gst_pad_get_peer(pad));
  const Caps caps(gst_pad_get_current_caps(pad));
  if (!peer || !caps)
    return false;
  // While the peer requests other caps, it still takes buffers with its current caps.
  const Caps known(gst_pad_get_current_caps(peer.get()));
  if (known && gst_caps_is_equal(known.get(), caps.get()))
    return false;
  return !gst_pad_query_accept_caps(peer.get(), caps.get());
}

FramePacking stereo_store_arrived_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* caps) {
  StereoState& state = stereo_state(self);
  const FramePacking packing = stereo_check_caps(self, pad, caps);
  GST_INFO_OBJECT(pad, "%" GST_PTR_FORMAT, caps);
  const StereoSinkPad& other = state.other_sink(pad);
  Caps other_caps;
  Caps arrived(gst_caps_ref(caps));
  {
    // One lock for both pads, so that the later of two CAPS events finds the other pad's caps.
    const auto shared = state.shared.lock();
    arrived.swap(shared->sides[state.side_of(pad)].arrived_caps);
    if (const Caps& others = shared->sides[state.side_of(other.pad)].arrived_caps)
      other_caps.reset(gst_caps_ref(others.get()));
  }
  state.arrival.notify();
  const Caps compatible = stereo_sink_caps_for(caps, state.session.takes_cuda());
  if (!packing.packed() && other_caps &&
      !gst_caps_can_intersect(other_caps.get(), compatible.get())) {
    GST_INFO_OBJECT(other.pad, "asking upstream to change %" GST_PTR_FORMAT, other_caps.get());
    gst_pad_push_event(GST_PAD_CAST(other.pad), gst_event_new_reconfigure());
  }
  return packing;
}

gboolean stereo_sink_query(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
      GstCaps* filter = nullptr;
      gst_query_parse_caps(query, &filter);
      gst_query_set_caps_result(query, possible_sink_caps(self, pad, filter).get());
      GST_DEBUG_OBJECT(pad, "%" GST_PTR_FORMAT, query);
      return TRUE;
    }
    // Accepts everything that the pad template allows, because GstPad would refuse CAPS events
    // without an error message. stereo_store_arrived_caps() reports the reason.
    if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
      GstCaps* caps = nullptr;
      gst_query_parse_accept_caps(query, &caps);
      const Caps accepted = video_template_caps(stereo_state(self).session.takes_cuda());
      gst_query_set_accept_caps_result(query, gst_caps_can_intersect(caps, accepted.get()));
      return TRUE;
    }
    return stereo_state(self).session.handle_context_query(query) ||
           stereo_parent_class()->sink_query(self, pad, query);
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
    // `false`, because it is not known yet whether the other pads' buffers are in stream order.
    const std::size_t maximum = stereo_settings(self).max_in_flight(backend, false);
    return propose_pool(query, session, maximum > 1 ? maximum : 0);
  });
}

}  // namespace cudavision
