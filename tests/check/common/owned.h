// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstharness.h>
#include <gst/gst.h>

#include <memory>

namespace check {

struct Release {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstContext* context) const { gst_context_unref(context); }
  void operator()(GstEvent* event) const { gst_event_unref(event); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
  void operator()(GstQuery* query) const { gst_query_unref(query); }
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
  void operator()(GstHarness* harness) const { gst_harness_teardown(harness); }
  void operator()(GError* error) const { g_error_free(error); }
  void operator()(gchar* text) const { g_free(text); }
  void operator()(gpointer object) const { gst_object_unref(object); }
};

/// Converts to a pointer for functions that borrow. To pass ownership, use a ref or release().
template <class T>
class Owned : public std::unique_ptr<T, Release> {
 public:
  using std::unique_ptr<T, Release>::unique_ptr;
  operator T*() const& noexcept { return this->get(); }
  operator T*() const&& = delete;  // the pointer would outlive its owner
};

}  // namespace check
