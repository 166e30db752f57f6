// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/fakelibgstcuda.h"

#include <vector>

namespace {

thread_local std::vector<GstObject*> entered;

}  // namespace

namespace check {

cudavision::CudaContext new_fake_context() {
  GstObject* object = GST_OBJECT_CAST(gst_bus_new());
  cudavision::CudaContext context(object);
  gst_object_unref(object);
  return context;
}

int references_to(const cudavision::CudaContext& context) {
  return GST_OBJECT_REFCOUNT_VALUE(context.object());
}

GstObject* current_fake_context() {
  return entered.empty() ? nullptr : entered.back();
}

}  // namespace check

namespace cudavision {

CudaScope::CudaScope(const CudaContext& context) {
  if (!context)
    return;
  entered.push_back(context.object());
  pushed_ = true;
}

CudaScope::~CudaScope() {
  if (pushed_)
    entered.pop_back();
}

bool is_cuda_memory(GstMemory*) {
  return false;
}

CudaContext cuda_context_of(GstMemory*) {
  return {};
}

const GstVideoInfo& cuda_memory_info(GstMemory*) {
  throw Error(Error::Kind::device, "The stand-in for libgstcuda has no such memory.");
}

GstMapFlags cuda_map_flag() {
  return static_cast<GstMapFlags>(GST_MAP_FLAG_LAST << 1);
}

void synchronize_cuda_memory(GstMemory*) {}

void* allocate_page_locked(gsize) noexcept {
  return nullptr;
}

void free_page_locked(void*) noexcept {}

}  // namespace cudavision
