// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <string>

/// Whole pipelines from a launch line.
namespace check {

using Look = std::function<void(GstElement* pipeline)>;

/// Runs a pipeline to its end, which must come and be no error. Elements named e, e2 and e3 get the
/// backend under test; `feed` is called once it plays, `look` once it is at its end.
void run_pipeline(const std::string& description, const Look& feed, const Look& look);
inline void run_pipeline(const std::string& description, const Look& look) {
  run_pipeline(
      description, [](GstElement*) {}, look);
}

/// Whether the element of that name gave away frames in CUDA memory, by its caps.
bool output_is_cuda(GstElement* pipeline, const char* element_name);

/// Whether the buffer's memory is CUDA memory, whatever its caps say.
bool is_cuda_memory(GstBuffer* buffer);

}  // namespace check
