// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pipelines.h"

#include "tests/check/common/filterharness.h"
#include "tests/check/common/gstcheck.h"
#include "tests/check/common/waiting.h"

namespace check {

void run_pipeline(const std::string& description, const Look& prepare, const Look& look) {
  const Owned<GstElement> pipeline = new_pipeline(description);
  for (const char* name : {"e", "e2", "e3"})
    if (const Owned<GstElement> element = element_in(pipeline, name))
      set_property(element, "backend", test_backend());
  prepare(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const Owned<GstBus> bus(gst_element_get_bus(pipeline));
  const Owned<GstMessage> message(gst_bus_timed_pop_filtered(
      bus, watchdog, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  fail_unless(message != nullptr, "hangs: %s", description.c_str());
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    ck_abort_msg("%s: %s", description.c_str(), error->message);
  }
  look(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

void run_pipeline(const std::string& description, const Look& look) {
  run_pipeline(
      description, [](GstElement*) {}, look);
}

void run_pipeline(const std::string& description, const char* element_name,
                  const std::function<void(GstBuffer*)>& look) {
  run_pipeline(
      description, [&](GstElement* pipeline) { on_buffers_at(pipeline, element_name, look); },
      [](GstElement*) {});
}

Owned<GstCaps> output_caps(GstElement* pipeline, const char* element_name) {
  return current_caps(pad_of(element_in(pipeline, element_name).get(), "src").get());
}

bool output_is_cuda(GstElement* pipeline, const char* element_name) {
  const Owned<GstCaps> caps = output_caps(pipeline, element_name);
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory");
}

void on_buffers_at(GstElement* pipeline, const char* element_name,
                   std::function<void(GstBuffer*)> look) {
  on_buffers(pad_of(element_in(pipeline, element_name).get(), "sink").get(), std::move(look));
}

bool is_cuda_memory(GstBuffer* buffer) {
  return gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), "gst.cuda.memory");
}

bool is_marked_unfinished(GstBuffer* buffer) {
  // This is GST_CUDA_MEMORY_TRANSFER_NEED_SYNC, whose header needs the CUDA toolkit.
  constexpr auto mark = GST_MEMORY_FLAG_LAST << 2;
  return GST_MEMORY_FLAG_IS_SET(gst_buffer_peek_memory(buffer, 0), mark);
}

}  // namespace check
