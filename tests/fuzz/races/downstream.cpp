// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/races/downstream.h"

#include <utility>

#include "tests/fuzz/actions.h"
#include "tests/fuzz/hostile/hostilebuffers.h"
#include "tests/fuzz/hostile/hostilepeers.h"
#include "tests/fuzz/races/testpads.h"

namespace fuzz {

// The probe may still run when it is removed, so it owns its copy of on_frame.
Downstream::Downstream(GstPad* source, bool linked, std::function<bool()> on_frame)
    : source_(GST_PAD(gst_object_ref(source))),
      probe_(gst_pad_add_probe(
          source, GST_PAD_PROBE_TYPE_BUFFER, probe, new std::function<bool()>(std::move(on_frame)),
          +[](gpointer data) { delete static_cast<std::function<bool()>*>(data); })) {
  if (linked)
    relink();
}

Downstream::~Downstream() {
  gst_pad_remove_probe(source_, probe_);
  remove_sink();
}

void Downstream::relink() {
  const std::lock_guard<std::mutex> lock(mutex_);
  remove_sink();
  sink_ = new_any_pad("downstream", GST_PAD_SINK);
  gst_pad_set_chain_function(sink_, chain);
  if (hostile_)
    gst_pad_set_query_function(sink_, handle_query);
  gst_pad_set_active(sink_, TRUE);
  // Copies the sticky events, because GStreamer warns and sends none if the element stops now.
  gst_pad_sticky_events_foreach(
      source_,
      +[](GstPad*, GstEvent** event, gpointer sink) -> gboolean {
        gst_pad_store_sticky_event(static_cast<GstPad*>(sink), *event);
        return TRUE;
      },
      sink_.get());
  gst_pad_link(source_, sink_);
}

void Downstream::unlink() {
  const std::lock_guard<std::mutex> lock(mutex_);
  remove_sink();
}

void Downstream::remove_sink() {
  if (sink_ == nullptr)
    return;
  gst_pad_unlink(source_, sink_);
  gst_pad_set_active(sink_, FALSE);
  sink_.reset();
}

GstFlowReturn Downstream::chain(GstPad*, GstObject*, GstBuffer* buffer) {
  const guint32 number = g_random_int();
  if (number % 31 == 0) {
    keep_buffer(buffer);
    count_action("keep a frame until the element is gone");
  }
  gst_buffer_unref(buffer);
  if (number % 8 == 0)
    g_usleep(number / 8 % 500);
  if (number % 97 == 0)
    return GST_FLOW_EOS;
  return number % 101 == 0 ? GST_FLOW_NOT_LINKED : GST_FLOW_OK;
}

gboolean Downstream::handle_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (answer_caps_query(query))
    return TRUE;
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION || g_random_int() % 2 != 0)
    return gst_pad_query_default(pad, parent, query);
  offer_failing_pools(query);
  count_action("offer pools that fail now and then");
  return TRUE;
}

GstPadProbeReturn Downstream::probe(GstPad*, GstPadProbeInfo*, gpointer on_frame) {
  return (*static_cast<std::function<bool()>*>(on_frame))() ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

}  // namespace fuzz
