// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/memory/libgstcuda.h"

/// Streams that CUDA memory carries, which GStreamer knows from 1.24 on. All work on such memory is
/// in the order of its stream, and a mark says whether it may still be going on, so that an element
/// need not wait before it passes a frame on. Memory that carries no stream must be finished when
/// it goes downstream. With GStreamer 1.22 no memory carries one: then the functions below mark
/// nothing and change no pool.
namespace cudavision {

/// True if CUDA memory of pools that name a stream carries it.
inline constexpr bool memory_carries_streams = GST_CHECK_VERSION(1, 24, 0);

/// A reference to a stream on which an element works, or none. Pools and memory that carry the
/// stream refer to it as well.
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

  std::shared_ptr<void> owner_;  ///< a GstCudaStream from GStreamer 1.24 on
  CudaStream handle_ = nullptr;
};

/// Lets the memory of one of libgstcuda's pools carry the stream, unless its configuration already
/// names one, which is then a neighbour's.
void carry_stream(GstStructure* pool_config, const SharedStream& stream);
/// Returns the stream that a pool's configuration names, which its memory carries, or none.
SharedStream stream_named_in(const GstStructure* pool_config);

/// Returns the stream that CUDA memory carries, or nullptr.
CudaStream stream_of_cuda_memory(GstMemory* memory);
/// Marks CUDA memory on which work may still be going on, on the stream that it carries. Mapping
/// for writing on the device has done so already.
void mark_unfinished(GstMemory* memory);
/// Takes the mark away from CUDA memory on which all work has ended.
void mark_finished(GstMemory* memory);
bool is_marked_unfinished(GstMemory* memory);
/// Waits for work that other elements have enqueued on this CUDA memory, if it is marked
/// unfinished, and takes the mark away.
void synchronize_cuda_memory(GstMemory* memory);

}  // namespace cudavision
