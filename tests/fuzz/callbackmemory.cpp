// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/callbackmemory.h"

#include <gst/base/gstbasetransform.h>

#include "tests/check/common/owned.h"
#include "tests/fuzz/propertyextremes.h"

namespace fuzz {

namespace {

using namespace check;

void set_again(GstElement* element, const char* property) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), property, &value);
  g_object_set_property(G_OBJECT(element), property, &value);
  g_value_unset(&value);
}

void query_caps(GstElement* element, const char* name) {
  const Owned<GstPad> pad(gst_element_get_static_pad(element, name));
  if (pad != nullptr)
    Owned<GstCaps>(gst_pad_query_caps(pad, nullptr));
}

void call_back(gpointer data) {
  const Owned<GstElement> element(static_cast<GstElement*>(data));
  read_properties(element);
  set_again(element, "frames-in-flight");
  set_again(element, "cuda-device-id");
  for (const char* pad : {"sink", "sink_left", "src"})
    query_caps(element, pad);
  // GstAggregator frees frames under a lock that it takes for its latency, too.
  if (GST_IS_BASE_TRANSFORM(element.get())) {
    const Owned<GstQuery> latency(gst_query_new_latency());
    gst_element_query(element, latency);
  }
}

}  // namespace

GstBuffer* with_callback(GstElement* element, GstBuffer* buffer) {
  gst_mini_object_set_qdata(GST_MINI_OBJECT(gst_buffer_peek_memory(buffer, 0)),
                            g_quark_from_static_string("cudavision-fuzz-callback"),
                            gst_object_ref(element), call_back);
  return buffer;
}

}  // namespace fuzz
