// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pads/requestpads.h"

#include <cstring>

#include "gst/core/text.h"
#include "gst/sgmstereo/pads/padqueries.h"
#include "gst/sgmstereo/pads/stereocaps.h"

namespace cudavision {
namespace {

struct Kind {
  const char* name;  ///< name of the pad and its template
  SourcePad id;
  StereoOutput output;
};
constexpr Kind kinds[] = {
    {"depth", SourcePad::depth, StereoOutput::depth},
    {"confidence", SourcePad::confidence, StereoOutput::confidence},
    {"rectified", SourcePad::rectified, StereoOutput::rectified},
    {"points", SourcePad::points, StereoOutput::points},
};

const Kind* kind_of(GstPadTemplate* pad_template) {
  for (const Kind& kind : kinds)
    if (std::strcmp(kind.name, text_of(GST_PAD_TEMPLATE_NAME_TEMPLATE(pad_template))) == 0)
      return &kind;
  return nullptr;
}

gboolean handle_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  auto* self = GST_AGGREGATOR_CAST(parent);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS)
    return stereo_answer_src_caps(self, kind_of(GST_PAD_PAD_TEMPLATE(pad))->output, query);
  if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS)
    return gst_pad_query_default(pad, parent, query);
  return GST_AGGREGATOR_GET_CLASS(self)->src_query(self, query);
}

gboolean handle_event(GstPad*, GstObject* parent, GstEvent* event) {
  // RECONFIGURE needs no action, because GstPad has set NEED_RECONFIGURE.
  if (GST_EVENT_TYPE(event) != GST_EVENT_QOS && GST_EVENT_TYPE(event) != GST_EVENT_RECONFIGURE)
    return gst_pad_send_event(GST_AGGREGATOR_SRC_PAD(parent), event);
  gst_event_unref(event);
  return TRUE;
}

std::shared_ptr<StereoRequestPad> request_pad_of(gpointer self, GstPad* pad) {
  const auto shared = stereo_state(self).shared.lock();
  for (const std::shared_ptr<StereoRequestPad>& request_pad : shared->request_pads)
    if (request_pad && request_pad->pad.get() == pad)
      return request_pad;
  return nullptr;
}

}  // namespace

void add_request_pad_templates(GstElementClass* klass) {
  for (const Kind& kind : kinds) {
    const Caps caps = stereo_src_caps(kind.output, true);
    gst_element_class_add_pad_template(
        klass, gst_pad_template_new(kind.name, GST_PAD_SRC, GST_PAD_REQUEST, caps.get()));
  }
}

GstPad* stereo_request_new_pad(GstElement* element, GstPadTemplate* pad_template, const gchar*,
                               const GstCaps*) {
  const Kind* kind = kind_of(pad_template);
  if (!kind)
    return nullptr;
  GstPad* pad = gst_pad_new_from_template(pad_template, kind->name);
  gst_pad_set_query_function(pad, handle_query);
  gst_pad_set_event_function(pad, handle_event);
  const auto request_pad = std::make_shared<StereoRequestPad>(pad, kind->id, kind->output);
  bool stored = false;
  if (const auto shared = stereo_state(element).shared.lock();
      !shared->request_pads[index_of(kind->id)]) {
    shared->request_pads[index_of(kind->id)] = request_pad;
    stored = true;
  }
  if (!stored) {
    GST_WARNING_OBJECT(element, "the pad %s exists already: release it first", kind->name);
    return nullptr;
  }
  gst_pad_set_active(pad, TRUE);
  if (gst_element_add_pad(element, pad))
    return pad;
  stereo_pad_removed(element, pad, nullptr);
  return nullptr;
}

void stereo_release_pad(GstElement* element, GstPad* pad) {
  const std::shared_ptr<StereoRequestPad> request_pad = request_pad_of(element, pad);
  // Two threads may release a pad at the same time.
  if (!request_pad || request_pad->released.exchange(true))
    return;
  gst_pad_set_active(pad, FALSE);
  gst_element_remove_pad(element, pad);
}

void stereo_pad_removed(GstElement* element, GstPad* pad, gpointer) {
  const std::shared_ptr<StereoRequestPad> request_pad = request_pad_of(element, pad);
  if (!request_pad)
    return;
  request_pad->released = true;
  stereo_state(element).shared.lock()->request_pads[index_of(request_pad->id)].reset();
}

}  // namespace cudavision
