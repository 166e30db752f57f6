// SPDX-License-Identifier: LGPL-2.1-or-later
// Implements libgstcuda.h and SharedStream in builds without CUDA. probe_cuda() returns an error,
// so no context is created, and functions that need a context are never called.
#include "gst/memory/cudastream.h"

namespace cudavision {

int CudaContext::device_id() const {
  return -1;
}

CudaScope::CudaScope(const CudaContext&) {}

CudaScope::~CudaScope() {}

CudaContext CudaContextSlot::negotiate(GstElement*, int, const std::function<int(int)>&) {
  return {};
}

void CudaContextSlot::offer(GstElement*, GstContext*, int) {}

void CudaContextSlot::replace(const CudaContext&) {}

bool handle_context_query(GstElement*, GstQuery*, const CudaContext&) {
  return false;
}

std::string probe_cuda(int) {
  return "this gst-cudavision was built without CUDA: rebuild with nvcc and gstreamer-cuda-1.0 "
         "installed, or set backend=cpu.";
}

CudaStream create_cuda_stream() {
  throw Error(Error::Kind::invalid_argument, probe_cuda(0));
}

void destroy_cuda_stream(CudaStream) noexcept {}

bool is_cuda_memory(GstMemory*) {
  return false;
}

CudaContext cuda_context_of(GstMemory*) {
  return {};
}

const GstVideoInfo& cuda_memory_info(GstMemory*) {
  throw Error(Error::Kind::invalid_argument, probe_cuda(0));
}

GstMapFlags cuda_map_flag() {
  return static_cast<GstMapFlags>(0);
}

bool can_copy_from(const CudaContext&, const CudaContext&) {
  return false;
}

void finish_default_stream(const CudaContext&) {}

GstBufferPool* new_libgstcuda_pool(const CudaContext&) {
  return nullptr;
}

bool is_libgstcuda_pool(GstBufferPool*, const CudaContext&) {
  return false;
}

void* allocate_page_locked(gsize) noexcept {
  return nullptr;
}

void free_page_locked(void*) noexcept {}

SharedStream::SharedStream(const CudaContext&) {
  create_cuda_stream();
}

}  // namespace cudavision
