// SPDX-License-Identifier: LGPL-2.1-or-later
// Implements the functions of cudastream.h with GStreamer before 1.24 and in builds without CUDA.
// No memory carries a stream.
#include "gst/memory/cudastream.h"

namespace cudavision {

void carry_stream(GstStructure*, const SharedStream&) {}

SharedStream stream_named_in(const GstStructure*) {
  return {};
}

CudaStream stream_of_cuda_memory(GstMemory*) {
  return nullptr;
}

void mark_unfinished(GstMemory*) {}

void mark_finished(GstMemory*) {}

bool is_marked_unfinished(GstMemory*) {
  return false;
}

void synchronize_cuda_memory(GstMemory*) {}

}  // namespace cudavision
