// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/capsdiagnostics.h"

#include <gst/base/gstbasesrc.h>
#include <gst/base/gstbasetransform.h>

#include <atomic>

#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/videoformat.h"

namespace cudavision {
namespace {

/// Only the pad's streaming thread may use `last` and expects_first_buffer.
struct CapsDiagnostics {
  explicit CapsDiagnostics(const DeviceSession& session) : session(session) {}

  const DeviceSession& session;
  std::string last;  ///< last message, posted once although upstream resends refused caps
  bool expects_first_buffer = false;
  std::atomic<bool> warned_of_downstream{false};  ///< since the start of the stream
};

// Returns true if upstream may still choose other caps. After refused caps, GstBaseSrc and
// GstBaseTransform query again if their pad was linked or got RECONFIGURE since the last query.
bool may_send_others(GstPad* sink) {
  const ObjectPtr<GstPad> peer(gst_pad_get_peer(sink));
  if (!peer || !gst_pad_needs_reconfigure(peer.get()))
    return false;
  const ObjectPtr<GstElement> upstream(gst_pad_get_parent_element(peer.get()));
  return GST_IS_BASE_SRC(upstream.get()) || GST_IS_BASE_TRANSFORM(upstream.get());
}

void on_caps(GstPad* sink, CapsDiagnostics& diagnostics, GstCaps* caps) {
  if (gst_pad_query_accept_caps(sink, caps)) {
    diagnostics.last.clear();
    return;
  }
  // Checks only what all elements require. Each element reports its own further restrictions.
  try {
    frame_format_from_caps(caps);
    if (has_cuda_feature(caps, 0) && !diagnostics.session.takes_cuda())
      refuse_stream(
          "The frames are in CUDA memory, but the element runs on the CPU: put cudadownload before "
          "the element, or set backend=cuda.");
  } catch (const ElementError& e) {
    if (diagnostics.last == e.what())
      return;
    diagnostics.last = e.what();
    if (!may_send_others(sink))
      throw;
    post_warning(diagnostics.session.element(), e.domain(), e.code(), e.what());
  }
}

// A source such as filesrc sends buffers without a CAPS event. They are refused here, because
// GstAggregator would queue them and block upstream.
GstPadProbeReturn on_first_buffer(GstPad* sink, GstPadProbeInfo* info, gpointer data) {
  auto& diagnostics = *static_cast<CapsDiagnostics*>(data);
  const ObjectPtr<GstElement> element(gst_pad_get_parent_element(sink));
  if (!element || gst_pad_has_current_caps(sink)) {
    diagnostics.expects_first_buffer = false;
    return GST_PAD_PROBE_REMOVE;
  }
  const std::string text =
      "The element takes raw video frames, but gets data without caps: put a decoder, such as "
      "decodebin, before the element or, for raw frames, a parser such as rawvideoparse.";
  if (diagnostics.last != text)
    post_exceptions(element.get(), false, [&]() -> bool { refuse_stream(text); });
  diagnostics.last = text;
  gst_mini_object_unref(static_cast<GstMiniObject*>(GST_PAD_PROBE_INFO_DATA(info)));
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_NOT_NEGOTIATED;
  return GST_PAD_PROBE_HANDLED;
}

bool is_cuda_memory_only(const GstCaps* caps) {
  guint in_cuda_memory = 0;
  while (in_cuda_memory < gst_caps_get_size(caps) && has_cuda_feature(caps, in_cuda_memory))
    ++in_cuda_memory;
  return in_cuda_memory > 0 && in_cuda_memory == gst_caps_get_size(caps);
}

// Warns during the CAPS query, because upstream sends no caps after an empty answer.
GstPadProbeReturn on_query(GstPad* sink, GstPadProbeInfo* info, gpointer data) {
  auto& diagnostics = *static_cast<CapsDiagnostics*>(data);
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  const bool answered = (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_PULL) != 0;
  const ObjectPtr<GstElement> element(gst_pad_get_parent_element(sink));
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS || !answered || !element)
    return GST_PAD_PROBE_OK;
  GstCaps* answer = nullptr;
  gst_query_parse_caps_result(query, &answer);
  if (!answer || !gst_caps_is_empty(answer) || !diagnostics.session.started() ||
      diagnostics.session.takes_cuda())
    return GST_PAD_PROBE_OK;
  const ObjectPtr<GstPad> src(gst_element_get_static_pad(element.get(), "src"));
  const Caps taken = src ? peer_caps(src.get(), nullptr) : nullptr;
  if (taken && is_cuda_memory_only(taken.get()) && !diagnostics.warned_of_downstream.exchange(true))
    post_warning(element.get(), GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
                 needs_cuda_memory_text("Downstream"));
  return GST_PAD_PROBE_OK;
}

void start_stream(GstPad* sink, CapsDiagnostics& diagnostics) {
  diagnostics.last.clear();
  diagnostics.warned_of_downstream = false;
  if (std::exchange(diagnostics.expects_first_buffer, true))
    return;
  constexpr int buffers = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST;
  gst_pad_add_probe(sink, static_cast<GstPadProbeType>(buffers), on_first_buffer, &diagnostics,
                    nullptr);
}

GstPadProbeReturn on_event(GstPad* sink, GstPadProbeInfo* info, gpointer data) {
  auto& diagnostics = *static_cast<CapsDiagnostics*>(data);
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START)
    start_stream(sink, diagnostics);
  // The pad may outlive the element and its session, so nothing is checked without an element.
  const ObjectPtr<GstElement> element(gst_pad_get_parent_element(sink));
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && element)
    post_exceptions(element.get(), false, [&] {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      on_caps(sink, diagnostics, caps);
      return true;
    });
  return GST_PAD_PROBE_OK;
}

}  // namespace

void add_caps_diagnostics(GstPad* sink, const DeviceSession& session) {
  auto* diagnostics = new CapsDiagnostics(session);
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_query, diagnostics, nullptr);
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, diagnostics,
                    [](gpointer data) { delete static_cast<CapsDiagnostics*>(data); });
}

}  // namespace cudavision
