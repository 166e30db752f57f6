// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/callbackmemory.h"

#include "tests/check/common/owned.h"
#include "tests/fuzz/propertyextremes.h"

namespace fuzz {

namespace {

using namespace check;

struct Memory {
  Owned<GstElement> element;
  Owned<gchar> bytes;
};

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
  const std::unique_ptr<Memory> memory(static_cast<Memory*>(data));
  GstElement* const element = memory->element;
  read_properties(element);
  set_again(element, "frames-in-flight");
  set_again(element, "cuda-device-id");
  for (const char* pad : {"sink", "sink_left", "src"})
    query_caps(element, pad);
  const Owned<GstQuery> latency(gst_query_new_latency());
  gst_element_query(element, latency);
}

}  // namespace

GstBuffer* new_callback_buffer(GstElement* element, gsize size) {
  auto* memory = new Memory{Owned<GstElement>(GST_ELEMENT(gst_object_ref(element))),
                            Owned<gchar>(static_cast<gchar*>(g_malloc0(size)))};
  return gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), memory->bytes.get(), size, 0,
                                     size, memory, call_back);
}

}  // namespace fuzz
