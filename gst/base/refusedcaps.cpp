// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/refusedcaps.h"

#include <gst/base/gstbasesrc.h>
#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <string>

#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/videoformat.h"

namespace cudavision {
namespace {

/// Belongs to the streaming thread of the pad, apart from what is atomic.
struct Explainer {
  explicit Explainer(const DeviceSession& session) : session(session) {}

  const DeviceSession& session;
  std::string last;  ///< the last message; upstream sends refused caps again with the next buffer
  bool expects_first_buffer = false;
  std::atomic<bool> warned_of_downstream{false};  ///< since the start of the stream
};

// Throws if the caps are such as no element accepts. An element that refuses others for a reason of
// its own explains that itself.
void explain(const DeviceSession& session, const GstCaps* caps) {
  frame_format_from_caps(caps);
  if (has_cuda_feature(caps, 0) && !session.takes_cuda())
    refuse_stream(
        "The frames are in CUDA memory, but the element computes on the CPU: put cudadownload "
        "before it, or set backend=cuda.");
}

// GstBaseSrc and GstBaseTransform ask which caps fit before they send any. If the pad was linked,
// or downstream changed, after they asked, they ask again once their caps have been refused.
bool may_send_others(GstPad* sink) {
  const ObjectPtr<GstPad> peer(gst_pad_get_peer(sink));
  if (!peer || !gst_pad_needs_reconfigure(peer.get()))
    return false;
  const ObjectPtr<GstElement> upstream(gst_pad_get_parent_element(peer.get()));
  return GST_IS_BASE_SRC(upstream.get()) || GST_IS_BASE_TRANSFORM(upstream.get());
}

void examine(GstPad* sink, Explainer& explainer, GstCaps* caps) {
  if (gst_pad_query_accept_caps(sink, caps)) {
    explainer.last.clear();
    return;
  }
  try {
    explain(explainer.session, caps);
  } catch (const ElementError& e) {
    if (explainer.last == e.what())
      return;
    explainer.last = e.what();
    if (!may_send_others(sink))
      throw;
    post_warning(explainer.session.element(), e.domain(), e.code(), e.what());
  }
}

// A source that knows no caps, such as filesrc, sends buffers without a CAPS event before them.
// They are refused here, because GstAggregator would keep them and block their sender.
GstPadProbeReturn on_first_buffer(GstPad* sink, GstPadProbeInfo* info, gpointer data) {
  auto& explainer = *static_cast<Explainer*>(data);
  const ObjectPtr<GstElement> element(gst_pad_get_parent_element(sink));
  if (!element || gst_pad_has_current_caps(sink)) {
    explainer.expects_first_buffer = false;
    return GST_PAD_PROBE_REMOVE;
  }
  const std::string text =
      "The element takes raw video frames, but gets data without caps: put a decoder, such as "
      "decodebin, before it, or a parser such as rawvideoparse if these are raw frames.";
  if (explainer.last != text)
    post_exceptions(element.get(), false, [&]() -> bool { refuse_stream(text); });
  explainer.last = text;
  gst_mini_object_unref(static_cast<GstMiniObject*>(GST_PAD_PROBE_INFO_DATA(info)));
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_NOT_NEGOTIATED;
  return GST_PAD_PROBE_HANDLED;
}

bool is_cuda_memory_alone(const GstCaps* caps) {
  guint in_cuda_memory = 0;
  while (in_cuda_memory < gst_caps_get_size(caps) && has_cuda_feature(caps, in_cuda_memory))
    ++in_cuda_memory;
  return in_cuda_memory > 0 && in_cuda_memory == gst_caps_get_size(caps);
}

// Upstream sends no caps if it is told that none fit, so nothing comes that could be refused.
GstPadProbeReturn on_query(GstPad* sink, GstPadProbeInfo* info, gpointer data) {
  auto& explainer = *static_cast<Explainer*>(data);
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  const bool answered = (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_PULL) != 0;
  const ObjectPtr<GstElement> element(gst_pad_get_parent_element(sink));
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS || !answered || !element)
    return GST_PAD_PROBE_OK;
  GstCaps* answer = nullptr;
  gst_query_parse_caps_result(query, &answer);
  if (!answer || !gst_caps_is_empty(answer) || !explainer.session.started() ||
      explainer.session.takes_cuda())
    return GST_PAD_PROBE_OK;
  const ObjectPtr<GstPad> src(gst_element_get_static_pad(element.get(), "src"));
  const Caps taken = src ? peer_caps(src.get(), nullptr) : nullptr;
  if (taken && is_cuda_memory_alone(taken.get()) && !explainer.warned_of_downstream.exchange(true))
    post_warning(element.get(), GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
                 needs_cuda_memory_text("this one"));
  return GST_PAD_PROBE_OK;
}

void start_stream(GstPad* sink, Explainer& explainer) {
  explainer.last.clear();
  explainer.warned_of_downstream = false;
  if (explainer.expects_first_buffer)
    return;
  explainer.expects_first_buffer = true;
  constexpr int buffers = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST;
  gst_pad_add_probe(sink, static_cast<GstPadProbeType>(buffers), on_first_buffer, &explainer,
                    nullptr);
}

GstPadProbeReturn on_event(GstPad* sink, GstPadProbeInfo* info, gpointer data) {
  auto& explainer = *static_cast<Explainer*>(data);
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START)
    start_stream(sink, explainer);
  // The session lives as long as the element, which the pad may outlive.
  const ObjectPtr<GstElement> element(gst_pad_get_parent_element(sink));
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && element)
    post_exceptions(element.get(), false, [&] {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      examine(sink, explainer, caps);
      return true;
    });
  return GST_PAD_PROBE_OK;
}

}  // namespace

void explain_refused_caps(GstPad* sink, const DeviceSession& session) {
  auto* explainer = new Explainer(session);
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_query, explainer, nullptr);
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, explainer,
                    [](gpointer data) { delete static_cast<Explainer*>(data); });
}

}  // namespace cudavision
