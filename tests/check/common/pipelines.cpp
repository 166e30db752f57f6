// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pipelines.h"

#include <gst/check/gstcheck.h>

#include "tests/check/common/filterharness.h"

namespace check {

void run_pipeline(const std::string& description, const Look& feed, const Look& look) {
  GError* problem = nullptr;
  GstElement* pipeline = gst_parse_launch(description.c_str(), &problem);
  fail_unless(problem == nullptr, "%s: %s", description.c_str(), problem ? problem->message : "");
  for (const char* name : {"e", "e2", "e3"}) {
    GstElement* element = gst_bin_get_by_name(GST_BIN(pipeline), name);
    if (element == nullptr)
      continue;
    gst_util_set_object_arg(G_OBJECT(element), "backend", test_backend().c_str());
    gst_object_unref(element);
  }
  share_cuda_context(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  feed(pipeline);
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, 30 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  fail_unless(message != nullptr, "hangs: %s", description.c_str());
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    fail("%s: %s", description.c_str(), error->message);
  }
  look(pipeline);
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

bool output_is_cuda(GstElement* pipeline, const char* element_name) {
  GstElement* element = gst_bin_get_by_name(GST_BIN(pipeline), element_name);
  GstPad* pad = gst_element_get_static_pad(element, "src");
  GstCaps* caps = gst_pad_get_current_caps(pad);
  fail_unless(caps != nullptr, "%s has not negotiated caps", element_name);
  const bool cuda = gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory");
  gst_caps_unref(caps);
  gst_object_unref(pad);
  gst_object_unref(element);
  return cuda;
}

bool is_cuda_memory(GstBuffer* buffer) {
  return gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), "gst.cuda.memory");
}

}  // namespace check
