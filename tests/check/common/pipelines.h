// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <string>

#include "tests/check/common/owned.h"

namespace check {

using Look = std::function<void(GstElement* pipeline)>;

/// Runs a pipeline to EOS; an error fails the test. Elements e, e2 and e3 get the tested backend.
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

/// Returns true if the buffer's memory is CUDA memory, regardless of the caps.
bool is_cuda_memory(GstBuffer* buffer);
/// Returns true if the CUDA memory is marked, which means that work on it may be unfinished.
bool is_marked_unfinished(GstBuffer* buffer);

}  // namespace check
