// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <string>

#include "tests/check/common/owned.h"

namespace check {

using Look = std::function<void(GstElement* pipeline)>;

/// Runs to EOS without an error. Elements e, e2 and e3 get the backend under test.
void run_pipeline(const std::string& description, const Look& prepare, const Look& look);
void run_pipeline(
    const std::string& description, const Look& look = [](GstElement*) {});
/// Calls look() with the buffers that reach this element.
void run_pipeline(const std::string& description, const char* element_name,
                  const std::function<void(GstBuffer*)>& look);

Owned<GstCaps> output_caps(GstElement* pipeline, const char* element_name);
bool output_is_cuda(GstElement* pipeline, const char* element_name);

void on_buffers_at(GstElement* pipeline, const char* element_name,
                   std::function<void(GstBuffer*)> look);

/// True if the buffer's memory is CUDA memory, regardless of its caps.
bool is_cuda_memory(GstBuffer* buffer);
/// True if the CUDA memory is marked because work on it may be unfinished.
bool is_marked_unfinished(GstBuffer* buffer);

}  // namespace check
