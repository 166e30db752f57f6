// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <string>

#include "cuda/core/device.h"

/// All that the elements need of libgstcuda and the driver, without their headers. A build without
/// CUDA has the same functions: probe_cuda() says that there is none, and nothing is CUDA memory.
namespace cudavision {

inline constexpr char cuda_memory_feature[] = "memory:CUDAMemory";

/// A reference to a GstCudaContext, or none.
class CudaContext {
 public:
  CudaContext() = default;
  explicit CudaContext(GstObject* object)
      : object_(object ? GST_OBJECT_CAST(gst_object_ref(object)) : nullptr) {}
  CudaContext(const CudaContext& other) : CudaContext(other.object_) {}
  CudaContext(CudaContext&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  CudaContext& operator=(CudaContext other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~CudaContext() { gst_clear_object(&object_); }

  explicit operator bool() const noexcept { return object_ != nullptr; }
  bool operator==(const CudaContext& other) const noexcept { return object_ == other.object_; }
  GstObject* object() const noexcept { return object_; }
  int device_id() const;

 private:
  GstObject* object_ = nullptr;
};

/// Makes a context current to the thread while it lives; none is left alone. Throws Error.
class CudaScope {
 public:
  explicit CudaScope(const CudaContext& context);
  ~CudaScope();
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;

 private:
  bool pushed_ = false;
};

/// Where an element's context is agreed upon with its neighbours and the application, by the
/// gst.cuda.context protocol of nvcodec's elements. libgstcuda serialises the negotiations.
class CudaContextSlot {
 public:
  CudaContextSlot() = default;
  ~CudaContextSlot() { clear(); }
  CudaContextSlot(const CudaContextSlot&) = delete;
  CudaContextSlot& operator=(const CudaContextSlot&) = delete;

  /// The context offered so far, else a neighbour's, else the application's, else a new one; none
  /// where the device does not give one. device_id −1 takes any.
  CudaContext negotiate(GstElement* element, int device_id);
  /// What an element's set_context() does: takes the context if it has none yet and it fits.
  void offer(GstElement* element, GstContext* context, int device_id);
  void replace(const CudaContext& context);
  void clear();

 private:
  GstObject* object_ = nullptr;
};

/// Answers a CONTEXT query for gst.cuda.context. False: it asks for something else, or for nothing
/// that context has.
bool handle_context_query(GstElement* element, GstQuery* query, const CudaContext& context);

/// Why no CUDA device (or not that one; −1: any) can be used, as a sentence that ends with what to
/// do about it; empty if one can. Loads the driver, creates nothing on the device.
std::string probe_cuda(int device_id);

/// In the current context. Throws Error.
CudaStream create_cuda_stream();
void destroy_cuda_stream(CudaStream stream) noexcept;

bool is_cuda_memory(GstMemory* memory);
CudaContext cuda_context_of(GstMemory* memory);
/// The planes as libgstcuda laid them out, which is not what the caps alone would give.
const GstVideoInfo& cuda_memory_info(GstMemory* memory);
/// To be added to a buffer's map flags to get addresses on the device.
GstMapFlags cuda_map_flag();
/// Waits for what others still have to do with the memory on streams of theirs.
void synchronize_cuda_memory(GstMemory* memory);

/// A GstCudaBufferPool, which aborts the process when it is configured for a format that it does
/// not know: see cudapool.h.
GstBufferPool* new_libgstcuda_pool(const CudaContext& context);
bool is_libgstcuda_pool(GstBufferPool* pool, const CudaContext& context);

/// Page-locked host memory, in the current context; nullptr where there is none left.
void* allocate_page_locked(gsize size) noexcept;
void free_page_locked(void* memory) noexcept;

}  // namespace cudavision
