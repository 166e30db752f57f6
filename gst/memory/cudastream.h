// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/memory/libgstcuda.h"

/// From GStreamer 1.24 on, CUDA memory can carry a stream. Work on this memory is in stream order,
/// and a flag marks the memory as unfinished, so an element can push a frame without waiting. Work
/// on memory without a stream must be finished before the push. With GStreamer 1.22, no memory
/// carries a stream, and the functions below do nothing.
namespace cudavision {

/// True if CUDA memory carries the stream of its pool.
inline constexpr bool memory_carries_streams = GST_CHECK_VERSION(1, 24, 0);

/// A shared reference to a CUDA stream, or none.
class SharedStream {
 public:
  SharedStream() = default;
  /// Creates a stream. The context need not be current. Throws Error.
  explicit SharedStream(const CudaContext& context);

  explicit operator bool() const noexcept { return owner_ != nullptr; }
  CudaStream handle() const noexcept { return handle_; }

 private:
  friend void carry_stream(GstStructure* pool_config, const SharedStream& stream);
  friend SharedStream stream_named_in(const GstStructure* pool_config);

  std::shared_ptr<void> owner_;  ///< with GStreamer 1.24 and newer, a GstCudaStream
  CudaStream handle_ = nullptr;
};

/// Sets the stream in a libgstcuda pool's configuration, unless another element has set one.
void carry_stream(GstStructure* pool_config, const SharedStream& stream);
/// Returns the stream of a pool's configuration, or none.
SharedStream stream_named_in(const GstStructure* pool_config);

// All arguments of the following functions must be CUDA memory.
/// Returns nullptr if the memory carries no stream.
CudaStream stream_of_cuda_memory(GstMemory* memory);
/// Marks memory whose stream may still work on it, as mapping for writing on the device does.
void mark_unfinished(GstMemory* memory);
void mark_finished(GstMemory* memory);
bool is_marked_unfinished(GstMemory* memory);
/// If the memory is marked, waits for its stream and removes the mark.
void synchronize_cuda_memory(GstMemory* memory);

}  // namespace cudavision
