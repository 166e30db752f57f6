// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <string_view>

#include "gst/base/allocationquery.h"
#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/text.h"
#include "gst/sgmstereo/pads/padqueries.h"
#include "gst/sgmstereo/pads/stereocaps.h"
#include "gst/sgmstereo/pipeline/stereostream.h"

namespace cudavision {
namespace {

OwnedEvent sticky_event(GstPad* pad, GstEventType type, guint index = 0) {
  return OwnedEvent(gst_pad_get_sticky_event(pad, type, index));
}

std::string_view stream_id_of(GstEvent* stream_start) {
  const gchar* id = nullptr;
  gst_event_parse_stream_start(stream_start, &id);
  return text_of(id);
}

// Returns true if the pad's stream id is the stream id of src, a slash and the pad's name.
bool follows(GstEvent* start, GstEvent* of_src, GstPad* pad) {
  const std::string_view id = stream_id_of(start), src_id = stream_id_of(of_src);
  return id.size() > src_id.size() && id.substr(0, src_id.size()) == src_id &&
         id.substr(src_id.size() + 1) == text_of(GST_PAD_NAME(pad));
}

// Starts a new stream, with the current caps, if src has started one.
void send_stream_start(GstPad* src, GstPad* pad) {
  const OwnedEvent of_src = sticky_event(src, GST_EVENT_STREAM_START);
  const OwnedEvent current = sticky_event(pad, GST_EVENT_STREAM_START);
  if (!of_src || (current && follows(current.get(), of_src.get(), pad)))
    return;
  const std::string id = std::string(stream_id_of(of_src.get())) + "/" + text_of(GST_PAD_NAME(pad));
  GstEvent* start = gst_event_new_stream_start(id.c_str());
  gst_event_set_seqnum(start, gst_event_get_seqnum(of_src.get()));
  if (guint group = 0; gst_event_parse_group_id(of_src.get(), &group))
    gst_event_set_group_id(start, group);
  gst_pad_push_event(pad, start);
  if (const Caps caps{gst_pad_get_current_caps(pad)})
    gst_pad_push_event(pad, gst_event_new_caps(caps.get()));
}

bool has_caps(GstPad* pad, const GstCaps* caps) {
  const Caps current(gst_pad_get_current_caps(pad));
  return current && gst_caps_is_equal(current.get(), caps);
}

bool has_sticky_event(GstPad* pad, GstEvent* event) {
  for (guint i = 0;; ++i) {
    const OwnedEvent found = sticky_event(pad, GST_EVENT_TYPE(event), i);
    if (!found || found.get() == event)
      return found != nullptr;
  }
}

void copy_sticky_events(GstPad* src, GstEventType type, GstPad* pad) {
  for (guint i = 0;; ++i) {
    OwnedEvent event = sticky_event(src, type, i);
    if (!event)
      return;
    if (!has_sticky_event(pad, event.get()))
      gst_pad_push_event(pad, event.release());
  }
}

// Sends SEGMENT only after CAPS. Returns true if the pad has a SEGMENT event.
bool send_sticky_events(GstPad* src, GstPad* pad) {
  send_stream_start(src, pad);
  if (!gst_pad_has_current_caps(pad))
    return false;
  copy_sticky_events(src, GST_EVENT_SEGMENT, pad);
  copy_sticky_events(src, GST_EVENT_TAG, pad);
  return sticky_event(pad, GST_EVENT_SEGMENT) != nullptr;
}

// Returns the flow return for a pad that has not stored a sticky event, because it is flushing, at
// EOS or released. Unless it is at EOS, the pad negotiates again before its next buffer.
GstFlowReturn answer_without_event(StereoStream& stream, StereoRequestPad& pad) {
  SourceBranch& branch = pad.branch(stream);
  branch.pad_discont = true;
  branch.ended = GST_PAD_IS_EOS(pad.pad.get());
  if (branch.ended)
    return GST_FLOW_EOS;
  gst_pad_mark_reconfigure(pad.pad.get());
  const bool flushing =
      GST_PAD_IS_FLUSHING(stream.self->srcpad) || GST_PAD_IS_FLUSHING(pad.pad.get());
  return flushing && !pad.released ? GST_FLOW_FLUSHING : GST_FLOW_NOT_LINKED;
}

ObjectPtr<GstBufferPool> negotiated_pool(StereoStream& stream, StereoRequestPad& pad,
                                         GstCaps* caps) {
  const OwnedQuery query(gst_query_new_allocation(caps, TRUE));
  if (!gst_pad_peer_query(pad.pad.get(), query.get()))
    GST_DEBUG_OBJECT(pad.pad.get(), "the peer has no answer to an ALLOCATION query");
  decide_pool(query.get(), stream.state.session, *pad.branch(stream).format);
  GstBufferPool* pool = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &pool, nullptr, nullptr, nullptr);
  return ObjectPtr<GstBufferPool>(pool);
}

}  // namespace

GstPadProbeReturn stereo_follow_src(GstPad* src, GstPadProbeInfo* info, gpointer self) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type != GST_EVENT_EOS && type != GST_EVENT_FLUSH_START && type != GST_EVENT_FLUSH_STOP)
    return GST_PAD_PROBE_OK;
  return post_exceptions(self, GST_PAD_PROBE_OK, [&] {
    for (const std::shared_ptr<StereoRequestPad>& request_pad : stereo_request_pads(self)) {
      GstPad* pad = request_pad->pad.get();
      if (type == GST_EVENT_EOS && !gst_pad_is_linked(pad))
        continue;
      if (type == GST_EVENT_EOS)
        send_sticky_events(src, pad);
      gst_pad_push_event(pad, gst_event_ref(event));
    }
    return GST_PAD_PROBE_OK;
  });
}

RequestPads open_request_pads(StereoStream& stream) {
  RequestPads pads;
  for (const std::shared_ptr<StereoRequestPad>& pad : stereo_request_pads(stream.self)) {
    SourceBranch& branch = pad->branch(stream);
    if (gst_pad_needs_reconfigure(pad->pad.get()))  // the peer may be new
      branch.ended = false;
    if (!branch.ended && gst_pad_is_linked(pad->pad.get()))
      pads.push_back(pad);
    else
      branch.pad_discont = true;
  }
  return pads;
}

GstFlowReturn stereo_negotiate_request_pad(StereoStream& stream, StereoRequestPad& pad) {
  if (GST_PAD_IS_FLUSHING(pad.pad.get()))
    return answer_without_event(stream, pad);
  gst_pad_check_reconfigure(pad.pad.get());  // clears the flag
  pad.branch(stream).forget_negotiation();
  if (stream.processor) {
    const ReleaseScope scope(stream.state.session.context());
    stream.processor->forget(pad.id);
  }
  const Caps possible = stereo_src_caps_for(stream.left.caps.get(), stream.packing, pad.output,
                                            stream.state.session.takes_cuda());
  const Caps caps = stereo_fixated_caps(
      stereo_common_caps(stream.self, pad.pad.get(), pad.output, possible.get()), pad.pad.get());
  GST_INFO_OBJECT(pad.pad.get(), "%" GST_PTR_FORMAT, caps.get());
  send_stream_start(stream.self->srcpad, pad.pad.get());
  if (!has_caps(pad.pad.get(), caps.get()))
    gst_pad_push_event(pad.pad.get(), gst_event_new_caps(caps.get()));
  if (!has_caps(pad.pad.get(), caps.get()))
    return answer_without_event(stream, pad);
  pad.branch(stream).format = stereo_output_format(pad.output, caps.get());
  pad.branch(stream).pool = negotiated_pool(stream, pad, caps.get());
  return GST_FLOW_OK;
}

GstFlowReturn stereo_push_on_request_pad(StereoStream& stream, StereoRequestPad& pad,
                                         OwnedBuffer buffer) {
  // The pad may have got a new peer while the pair was in flight.
  if (gst_pad_needs_reconfigure(pad.pad.get()) && stereo_peer_refuses_current_caps(pad.pad.get())) {
    pad.branch(stream).pad_discont = true;
    return GST_FLOW_OK;
  }
  if (!send_sticky_events(stream.self->srcpad, pad.pad.get()))
    return answer_without_event(stream, pad);
  const GstFlowReturn flow = gst_pad_push(pad.pad.get(), buffer.release());
  pad.branch(stream).ended = flow == GST_FLOW_EOS;
  return flow == GST_FLOW_FLUSHING && pad.released ? GST_FLOW_NOT_LINKED : flow;
}

void stereo_push_gap_on_request_pads(StereoStream& stream, GstEvent* gap) {
  for (const std::shared_ptr<StereoRequestPad>& pad : open_request_pads(stream)) {
    if (!gst_pad_has_current_caps(pad->pad.get()))
      continue;
    send_sticky_events(stream.self->srcpad, pad->pad.get());
    gst_pad_push_event(pad->pad.get(), gst_event_ref(gap));
  }
}

}  // namespace cudavision
