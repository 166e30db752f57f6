// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "cuda/core/device.h"

/// Wraps the functions of libgstcuda and the driver that the elements use, so that other files need
/// not include the headers of both. In builds without CUDA (libgstcuda_absent.cpp), probe_cuda()
/// returns an error, and no memory is CUDA memory. cudastream.h wraps newer functions.
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

/// Makes a context current in this thread; does nothing without a context. Throws Error.
class CudaScope {
 public:
  explicit CudaScope(const CudaContext& context);
  ~CudaScope();
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;

 private:
  bool pushed_ = false;
};

/// A CudaScope for destructors. If the context is lost, the driver has already freed its memory, so
/// the error is only logged.
class ReleaseScope {
 public:
  explicit ReleaseScope(const CudaContext& context) noexcept;  // releasescope.cpp

 private:
  std::optional<CudaScope> scope_;
};

/// The context that an element shares with other elements and the application, by nvcodec's
/// gst.cuda.context protocol. A negative device_id allows any device.
class CudaContextSlot {
 public:
  /// Returns the first available context: an offered context, a peer's, the application's, or the
  /// device's primary context, which is then offered to the pipeline. If device_id is negative,
  /// choose() selects the device of the primary context. Returns none if creating it fails.
  CudaContext negotiate(GstElement* element, int device_id,
                        const std::function<int(int devices)>& choose);
  /// For set_context(): stores the context if it matches device_id and none is stored.
  void offer(GstElement* element, GstContext* context, int device_id);
  void replace(const CudaContext& context);
  void clear() { replace({}); }

 private:
  CudaContext get() const;
  /// Stores the context. Returns false if another context is stored already.
  bool keep(CudaContext context);

  mutable std::mutex mutex_;  ///< never held while calling other objects
  CudaContext context_;       ///< guarded by mutex_
};

/// Answers a CONTEXT query for gst.cuda.context. Returns false for other queries and contexts.
bool handle_context_query(GstElement* element, GstQuery* query, const CudaContext& context);

/// Returns an empty string if the driver has the CUDA device (negative: any device), otherwise an
/// error with its remedy. Loads the driver, but creates nothing on the device.
std::string probe_cuda(int device_id);

/// Creates a stream in the current context. Throws Error.
CudaStream create_cuda_stream();
void destroy_cuda_stream(CudaStream stream) noexcept;

bool is_cuda_memory(GstMemory* memory);
/// Returns the first memory of a buffer if it is CUDA memory, otherwise nullptr.
inline GstMemory* cuda_memory_of(GstBuffer* buffer) {
  GstMemory* memory = gst_buffer_n_memory(buffer) ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  return memory && is_cuda_memory(memory) ? memory : nullptr;
}
CudaContext cuda_context_of(GstMemory* memory);
/// Returns libgstcuda's plane layout, which may differ from the default layout of the caps.
const GstVideoInfo& cuda_memory_info(GstMemory* memory);
/// Returns the flag that maps a buffer on the device.
GstMapFlags cuda_map_flag();

/// Returns true if `context` can copy directly from the memory of `other`. libgstcuda enables peer
/// access if the hardware supports it.
bool can_copy_from(const CudaContext& context, const CudaContext& other);
/// Waits for copies that elements of GStreamer 1.22 leave on the context's default stream.
/// Streams of create_cuda_stream() in other contexts do not wait for this stream. Throws Error.
void finish_default_stream(const CudaContext& context);

/// Creates a GstCudaBufferPool, which the caller owns. libgstcuda 1.22 aborts the process if the
/// pool is configured for an unsupported format; new_cuda_frame_pool() avoids this.
GstBufferPool* new_libgstcuda_pool(const CudaContext& context);
bool is_libgstcuda_pool(GstBufferPool* pool, const CudaContext& context);

/// Allocates page-locked host memory in the current context, or returns nullptr.
void* allocate_page_locked(gsize size) noexcept;
void free_page_locked(void* memory) noexcept;

}  // namespace cudavision
