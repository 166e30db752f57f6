// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "cuda/core/device.h"

/// Everything that the elements use from libgstcuda and from the driver, without their headers. A
/// build without CUDA has the same functions (libgstcuda_absent.cpp): probe_cuda() reports that
/// there is no CUDA, and no memory is CUDA memory. cudastream.h has what only newer versions of
/// libgstcuda know.
namespace cudavision {

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

/// Makes a context current in this thread while it lives; does nothing without a context. Throws
/// Error.
class CudaScope {
 public:
  explicit CudaScope(const CudaContext& context);
  ~CudaScope();
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;

 private:
  bool pushed_ = false;
};

/// A CudaScope to free in. If the context cannot be entered any more, the driver has already freed
/// what was made in it, and only the host's objects are left to delete: logs that and goes on.
class ReleaseScope {
 public:
  explicit ReleaseScope(const CudaContext& context) noexcept;  // releasescope.cpp

 private:
  std::optional<CudaScope> scope_;
};

/// Holds the context that an element agrees on with its neighbours and the application, by the
/// gst.cuda.context protocol of nvcodec's elements.
class CudaContextSlot {
 public:
  /// Returns the context offered so far, else a neighbour's, else the application's, else the
  /// primary context of the device, which it offers to the pipeline; none if the device cannot
  /// provide one. A negative device_id allows contexts of any device; choose() then names the
  /// device of the primary context, of as many as the machine has.
  CudaContext negotiate(GstElement* element, int device_id,
                        const std::function<int(int devices)>& choose);
  /// For an element's set_context(): keeps the context if it fits and there is none yet. A negative
  /// device_id allows any device.
  void offer(GstElement* element, GstContext* context, int device_id);
  void replace(const CudaContext& context);
  void clear() { replace({}); }

 private:
  CudaContext get() const;
  /// Keeps the context unless there is one. Returns true if it was kept.
  bool keep(CudaContext context);

  mutable std::mutex mutex_;  ///< guards what follows; never held while calling other objects
  CudaContext context_;
};

/// Answers a CONTEXT query for gst.cuda.context. Returns false if it asks for something else, or if
/// context does not fit.
bool handle_context_query(GstElement* element, GstQuery* query, const CudaContext& context);

/// Returns why the CUDA device (−1: any) cannot be used, as a sentence that ends with the remedy;
/// empty if it can. Loads the driver, but creates nothing on the device.
std::string probe_cuda(int device_id);

/// Creates a stream in the current context. Throws Error.
CudaStream create_cuda_stream();
void destroy_cuda_stream(CudaStream stream) noexcept;

bool is_cuda_memory(GstMemory* memory);
/// The first memory of a buffer if it is CUDA memory, else nullptr.
inline GstMemory* cuda_memory_of(GstBuffer* buffer) {
  GstMemory* memory = gst_buffer_n_memory(buffer) ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  return memory && is_cuda_memory(memory) ? memory : nullptr;
}
CudaContext cuda_context_of(GstMemory* memory);
/// Returns where libgstcuda has put the planes, which differs from what the caps imply.
const GstVideoInfo& cuda_memory_info(GstMemory* memory);
/// Added to the map flags of a buffer, this maps it on the device.
GstMapFlags cuda_map_flag();

/// True if a device copies directly from the memory of another one in this context: libgstcuda has
/// let the one access the other, as it does for all contexts where the hardware can.
bool can_copy_from(const CudaContext& context, const CudaContext& other);
/// Waits for the copies that elements of GStreamer 1.22 leave on the default stream. In the context
/// itself, the streams of create_cuda_stream() wait for that stream, but no stream of another
/// context does. Throws Error.
void finish_default_stream(const CudaContext& context);

/// A GstCudaBufferPool. libgstcuda 1.22 aborts the process if it is configured for a format that it
/// does not know; cudabufferpool.h avoids that. The caller owns the pool.
GstBufferPool* new_libgstcuda_pool(const CudaContext& context);
bool is_libgstcuda_pool(GstBufferPool* pool, const CudaContext& context);

/// Allocates page-locked host memory in the current context. Returns nullptr if there is none left.
void* allocate_page_locked(gsize size) noexcept;
void free_page_locked(void* memory) noexcept;

}  // namespace cudavision
