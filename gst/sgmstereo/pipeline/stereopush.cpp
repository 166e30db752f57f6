// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <string>
#include <utility>

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pads/padqueries.h"
#include "gst/sgmstereo/pipeline/stereostream.h"

namespace cudavision {
namespace {

// `seqnum` is the sequence number of the event that caused this event, or GST_SEQNUM_INVALID.
GstEvent* with_seqnum(GstEvent* event, guint32 seqnum) {
  if (seqnum != GST_SEQNUM_INVALID)
    gst_event_set_seqnum(event, seqnum);
  return event;
}

// GstAggregator sends the segment only with the first buffer on src. Call this before other pushes.
void send_segment(StereoStream& stream) {
  if (stream.segment_sent)
    return;
  GstSegment segment = current_segment(stream.left.pad());
  // GstAggregator has the same default.
  if (segment.format == GST_FORMAT_UNDEFINED)
    gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(stream.self->srcpad,
                     with_seqnum(gst_event_new_segment(&segment), stream.segment_seqnum));
  stream.segment_sent = true;
}

// Returns true if the flow return of one branch stops the whole element.
bool stops_all(GstFlowReturn flow) {
  return flow <= GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_FLUSHING;
}

// Combines flow returns like GstFlowCombiner.
GstFlowReturn combined(const PerSourcePad<GstFlowReturn>& flows) {
  bool linked = false, open = false;
  for (GstFlowReturn flow : flows) {
    if (stops_all(flow))
      return flow;
    linked |= flow != GST_FLOW_NOT_LINKED;
    open |= flow != GST_FLOW_NOT_LINKED && flow != GST_FLOW_EOS;
  }
  return open ? GST_FLOW_OK : linked ? GST_FLOW_EOS : GST_FLOW_NOT_LINKED;
}

// Drops the buffer if src has a new peer that refuses the caps.
GstFlowReturn push_on_src(StereoStream& stream, OwnedBuffer buffer) {
  if (!buffer || (gst_pad_needs_reconfigure(stream.self->srcpad) &&
                  stereo_peer_refuses_current_caps(stream.self->srcpad))) {
    stream.src.pad_discont = true;
    return GST_FLOW_OK;
  }
  stream.segment_sent = true;
  const GstFlowReturn flow = gst_aggregator_finish_buffer(stream.self, buffer.release());
  stream.src.ended = flow == GST_FLOW_EOS;
  return flow;
}

gboolean warn_of_blocked_output(GstClock*, GstClockTime, GstClockID, gpointer data) {
  auto* pad = static_cast<GstPad*>(data);
  const ObjectPtr<GstElement> element(gst_pad_get_parent_element(pad));
  if (!element)  // the pad has been released
    return TRUE;
  const ObjectPtr<GstPad> peer_pad(gst_pad_get_peer(pad));
  const ObjectPtr<GstElement> peer_element(peer_pad ? gst_pad_get_parent_element(peer_pad.get())
                                                    : nullptr);
  const std::string name = text_of(GST_PAD_NAME(pad));
  const std::string peer = peer_element ? text_of(GST_OBJECT_NAME(peer_element.get())) : "the peer";
  post_warning(element.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
               "For 5 s, " + peer + " has not accepted the first buffer of pad " + name +
                   ", which blocks the other outputs: put a \"queue\" between " + name + " and " +
                   peer + ", and one after every other output.");
  return TRUE;
}

// Pushes on src first, because the request pads copy its sticky events. A branch may have ended
// while the pair was in flight.
GstFlowReturn push_outputs(StereoStream& stream, OpenPads& pads) {
  PerSourcePad<GstFlowReturn> flows;
  flows.fill(GST_FLOW_NOT_LINKED);
  for (const auto& pad : stereo_request_pads(stream.self))
    if (pad->branch(stream).ended)
      flows[index_of(pad->id)] = GST_FLOW_EOS;
  if (stream.src.ended)
    flows[index_of(SourcePad::always)] = GST_FLOW_EOS;
  const bool has_src = !pads.empty() && !pads.front().requested;
  if (stream.src.ended || !has_src)
    send_segment(stream);
  for (auto pad = pads.begin(); pad != pads.end(); ++pad) {
    if (stops_all(combined(flows)))
      break;
    if (pad->branch->ended)
      continue;
    // Sinks preroll together, so without a queue, the first push blocks the pushes after it.
    PadAlarm alarm(PadAlarm::Kind::waiting, warn_of_blocked_output);
    if (std::any_of(pad + 1, pads.end(), [](const OpenPad& later) {
          return !later.branch->started && !later.branch->ended;
        }))
      alarm.set(pad->requested ? pad->requested->pad.get() : stream.self->srcpad);
    flows[index_of(pad->id)] =
        pad->requested ? stereo_push_on_request_pad(stream, *pad->requested, std::move(pad->buffer))
                       : push_on_src(stream, std::move(pad->buffer));
    pad->branch->started = true;
  }
  return combined(flows);
}

// Reads all results first, because a message handler may stop the element, which frees the results.
void report_detections(StereoStream& stream, const PairDetections& pair, const OpenPads& pads) {
  for (const OpenPad& pad : pads)
    if (pad.buffer)
      add_distances(pair, pad.buffer.get());
  GstElement* const element = GST_ELEMENT_CAST(stream.self);
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT_CAST(element),
                                                            detections_message(pair).release()));
  if (pair.left_out == 0 || std::exchange(stream.warned_of_detections, true))
    return;
  const std::string limit = std::to_string(sgm::Distances::max_boxes);
  post_warning(element, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
               "A left frame has " + std::to_string(pair.detections.size() + pair.left_out) +
                   " detections, but detections=true measures only the first " + limit +
                   ": configure the detector to report at most " + limit + ".");
}

GstFlowReturn push_oldest(StereoStream& stream) {
  std::deque<PairInFlight>& in_flight = stream.in_flight;
  PairInFlight oldest = std::move(in_flight.front());
  in_flight.pop_front();
  oldest.work.complete();
  if (oldest.detections)
    report_detections(stream, *oldest.detections, oldest.pads);
  return push_outputs(stream, oldest.pads);
}

}  // namespace

GstFlowReturn stereo_push_pairs(StereoStream& stream, std::size_t remaining) {
  GstFlowReturn flow = GST_FLOW_OK;
  try {
    while (flow == GST_FLOW_OK && stream.in_flight.size() > remaining)
      flow = push_oldest(stream);
  } catch (...) {
    stream.in_flight.clear();
    throw;
  }
  if (flow != GST_FLOW_OK)
    stream.in_flight.clear();
  return flow;
}

void stereo_finish_pairs(StereoStream& stream) {
  if (stream.in_flight.empty())
    return;
  stream.late_flow = GST_FLOW_ERROR;  // in case the next line throws
  stream.late_flow = stereo_push_pairs(stream, 0);
  // Downstream may have been linked meanwhile; if not, the next push reports it.
  if (stream.late_flow == GST_FLOW_NOT_LINKED)
    stream.late_flow = GST_FLOW_OK;
}

void stereo_push_gap(StereoStream& stream, GstBuffer* left) {
  stereo_finish_pairs(stream);
  if (!GST_BUFFER_PTS_IS_VALID(left) || !gst_pad_has_current_caps(stream.self->srcpad))
    return;
  send_segment(stream);
  const OwnedEvent gap(gst_event_new_gap(GST_BUFFER_PTS(left), GST_BUFFER_DURATION(left)));
  gst_pad_push_event(stream.self->srcpad, gst_event_ref(gap.get()));
  stereo_push_gap_on_request_pads(stream, gap.get());
}

void stereo_push_eos(StereoStream& stream) {
  if (gst_pad_has_current_caps(stream.self->srcpad))
    send_segment(stream);
  else
    gst_aggregator_set_src_caps(stream.self, nullptr);  // sends STREAM_START
  GST_DEBUG_OBJECT(stream.self, "no further pair can form: EOS");
  gst_pad_push_event(stream.self->srcpad, with_seqnum(gst_event_new_eos(), stream.eos_seqnum));
  stream.eos_sent = true;
}

void stereo_restart_output(StereoStream& stream) {
  GST_DEBUG_OBJECT(stream.self, "a new stream after the end of the last one");
  const std::string id = take_gstring(g_strdup_printf("cudasgmstereo-%08x", g_random_int()));
  gst_pad_push_event(stream.self->srcpad, gst_event_new_stream_start(id.c_str()));
  if (const Caps caps{gst_pad_get_current_caps(stream.self->srcpad)})
    gst_pad_push_event(stream.self->srcpad, gst_event_new_caps(caps.get()));
  stream.eos_sent = false;
  stream.outputs_discont = true;
  if (stream.renegotiate)
    gst_pad_mark_reconfigure(stream.self->srcpad);
  stereo_apply_segment(stream);
}

void stereo_apply_segment(StereoStream& stream) {
  const GstSegment segment = current_segment(stream.left.pad());
  if (segment.format == GST_FORMAT_UNDEFINED)
    return;
  gst_aggregator_update_segment(stream.self, &segment);
  stream.segment_sent = false;
}

}  // namespace cudavision
