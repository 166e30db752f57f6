// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/allocationquery.h"
#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pads/padqueries.h"
#include "gst/sgmstereo/pads/stereocaps.h"
#include "gst/sgmstereo/pipeline/stereostream.h"

namespace cudavision {
namespace {

void apply_caps(StereoStream& stream, GstAggregatorPad* pad, GstCaps* caps) {
  StereoInput& input = stream.input(pad);
  if (input.caps && gst_caps_is_equal(input.caps.get(), caps))
    return;
  stereo_release_processor(stream);
  // A held frame has the old caps.
  stereo_drop_held(stream, input);
  input.format.reset();
  input.caps.reset(gst_caps_ref(caps));
  const FramePacking packing = stereo_check_caps(stream.self, pad, caps);
  if (stream.state.is_left(pad))
    stream.packing = packing;
  // If left caps cause an exception, left.format stays unset, so right caps cause no second error.
  if (stream.packing.packed() && (stream.state.is_left(pad) || stream.left.format))
    require_unlinked(GST_PAD_CAST(stream.right.pad()));
  input.format = frame_format_from_caps(caps, repack::UnpackedForm::luminance);
  if (stream.state.is_left(pad))
    stream.clock.emplace(input.format->info);
  stereo_update_latency(stream);
  gst_pad_mark_reconfigure(stream.self->srcpad);
}

// Returns the possible caps of src for the current left caps, if any.
Caps possible_src_caps(const StereoStream& stream, StereoOutput output) {
  const bool cuda = stream.state.session.takes_cuda();
  return stream.left.format
             ? stereo_src_caps_for(stream.left.caps.get(), stream.packing, output, cuda)
             : stereo_src_caps(output, cuda);
}

}  // namespace

gboolean stereo_sink_event(StereoStream& stream, GstAggregatorPad* pad, GstEvent* event) {
  const OwnedEvent owned(event);
  const auto chain_up = [&] {
    return stereo_parent_class()->sink_event(stream.self, pad, gst_event_ref(event));
  };
  return post_exceptions(stream.self, FALSE, [&]() -> gboolean {
    if (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED)
      stereo_finish_pairs(stream);
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_STREAM_START: {
        const gboolean handled = chain_up();
        // A new camera has replaced a camera that had ended.
        if (stream.eos_sent && !stream.left.sink.is_ended() && !stream.right.sink.is_ended())
          stereo_restart_output(stream);
        return handled;
      }
      case GST_EVENT_CAPS: {
        GstCaps* caps = nullptr;
        gst_event_parse_caps(event, &caps);
        apply_caps(stream, pad, caps);
        return chain_up();
      }
      case GST_EVENT_SEGMENT: {
        const gboolean handled = chain_up();
        stream.temporal_restart = true;  // also after a flush, because SEGMENT must follow a flush
        if (stream.state.is_left(pad)) {
          stream.segment_seqnum = gst_event_get_seqnum(event);
          // The output for a held frame would belong to the old segment.
          stereo_drop_held(stream, stream.left);
          stereo_apply_segment(stream);
          if (stream.state.flush_finished.exchange(false))
            stream.outputs_discont = true;
        }
        return handled;
      }
      case GST_EVENT_EOS: {
        const gboolean handled = chain_up();
        stream.eos_seqnum = gst_event_get_seqnum(event);
        stereo_end_inspections(stream);
        stereo_check_end(stream);
        return handled;
      }
      default:
        return chain_up();
    }
  });
}

GstFlowReturn stereo_flush(StereoStream& stream) {
  stream.state.shared.lock()->qos.forget_request();
  stream.in_flight.clear();
  stream.late_flow = GST_FLOW_OK;
  stream.eos_sent = false;
  stereo_reopen_branches(stream);
  stream.mismatch = {};
  stream.pairing_timeout.end();
  if (stream.renegotiate)
    gst_pad_mark_reconfigure(stream.self->srcpad);
  return GST_FLOW_OK;
}

gboolean stereo_serialized_sink_query(StereoStream& stream, GstAggregatorPad* pad,
                                      GstQuery* query) {
  return post_exceptions(stream.self, FALSE, [&]() -> gboolean {
    stereo_finish_pairs(stream);
    return stereo_sink_query(stream.self, pad, query);
  });
}

// Posts an error if src and its peer have no common caps. GstAggregator only returns an error for
// the next frame, and a single image has no next frame.
gboolean stereo_negotiate(StereoStream& stream) {
  GstAggregator* self = stream.self;
  if (stereo_parent_class()->negotiate(self))
    return TRUE;
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    const StereoOutput output = stereo_settings(self).output;
    if (!GST_PAD_IS_FLUSHING(self->srcpad))
      stereo_common_caps(self, self->srcpad, output, possible_src_caps(stream, output).get());
    return FALSE;
  });
}

GstFlowReturn stereo_update_src_caps(StereoStream& stream, GstCaps* downstream, GstCaps** result) {
  return post_exceptions(stream.self, GST_FLOW_NOT_NEGOTIATED, [&] {
    // push_on_src() cannot detect a new peer: GstAggregator has cleared NEED_RECONFIGURE on src.
    if (stereo_peer_refuses_current_caps(stream.self->srcpad))
      for (PairInFlight& pair : stream.in_flight)
        for (OpenPad& pad : pair.pads)
          if (!pad.requested)
            pad.buffer.reset();
    stereo_finish_pairs(stream);
    stream.renegotiate = stream.eos_sent;
    if (stream.eos_sent || !stream.left.format)
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    // Unequal pictures have no output. The next CAPS event on a sink pad negotiates again.
    if (!stream.packing.packed() &&
        (!stream.right.format || !pair_error(*stream.left.format, *stream.right.format).empty()))
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    const Caps possible = possible_src_caps(stream, stereo_settings(stream.self).output);
    *result = gst_caps_intersect_full(possible.get(), downstream, GST_CAPS_INTERSECT_FIRST);
    return GST_FLOW_OK;
  });
}

gboolean stereo_negotiated_src_caps(StereoStream& stream, GstCaps* caps) {
  return post_exceptions(stream.self, FALSE, [&]() -> gboolean {
    if (stream.processor) {
      const ReleaseScope scope(stream.state.session.context());
      stream.processor->forget(SourcePad::always);
    }
    stream.src.format = frame_format_from_caps(caps);
    stream.src.ended = false;
    return TRUE;
  });
}

gboolean stereo_decide_allocation(StereoStream& stream, GstQuery* query) {
  return post_exceptions(stream.self, FALSE, [&]() -> gboolean {
    decide_pool(query, stream.state.session, *stream.src.format);
    return TRUE;
  });
}

}  // namespace cudavision
