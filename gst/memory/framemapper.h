// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>

#include "cuda/core/device.h"
#include "cuda/repack/repack.h"
#include "gst/core/scoped.h"
#include "gst/core/videoformat.h"
#include "gst/memory/deviceframe.h"
#include "gst/memory/framequeues.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/mappedbuffer.h"
#include "gst/memory/pagelocks.h"
#include "gst/memory/staging.h"
#include "gst/memory/streamorder.h"

namespace cudavision {

/// Maps the buffers of one pad, one at a time, and transfers the frames to or from the device.
///
/// Buffers in CUDA memory of our context are used in place, as are all buffers on the CPU device.
/// Inputs in the memory of another GPU are copied directly if both GPUs have peer access. Other
/// frames are transferred to or from a frame of device memory, through page-locked memory for rows
/// that are not page-locked (Staging, PageLocks). Frames that operations cannot read directly are
/// unpacked into another frame on the device, and packed again. Memory is allocated on first use.
///
/// If a buffer is used in place and its memory carries a stream, the host need not wait, because
/// the next element works in stream order.
///
/// All calls, including constructor and destructor, need the session's context. One thread may
/// enqueue the work on a frame, and another thread may complete it.
class FrameMapper {
 public:
  /// access is GST_MAP_READ or GST_MAP_WRITE. page_locks is nullptr on the CPU device.
  FrameMapper(const FrameQueues& queues, const CudaContext& context, PageLocks* page_locks,
              const FrameFormat& format, GstMapFlags access);
  ~FrameMapper() { unmap(); }
  FrameMapper(const FrameMapper&) = delete;
  FrameMapper& operator=(const FrameMapper&) = delete;

  const FrameFormat& format() const noexcept { return format_; }
  bool writes() const noexcept { return access_ == GST_MAP_WRITE; }

  /// Holds a reference to the buffer. Enqueues upload and unpacking of an input. After an
  /// exception, the buffer may still be mapped.
  void map(GstBuffer* buffer);
  bool is_mapped() const noexcept { return buffer_.has_value(); }
  /// Returns the buffer, or none. If the frame is not complete, waits for the device, and only logs
  /// errors, because the frame is being dropped.
  OwnedBuffer unmap() noexcept;

  // The following functions need a mapped buffer.
  /// Returns the frame on the device, in the format's layout. Inputs must not be written to.
  const Frame& frame() const noexcept { return frame_; }
  /// Returns the frame on the device, in the buffer's layout.
  const Frame& stored() const noexcept { return stored_; }
  /// Enqueues packing and download of an output. Enqueue all other work first.
  void end();
  /// Returns the last event that complete() waits for.
  Event& completion() noexcept { return downloads() ? staging_->arrival() : *computed_; }
  /// Waits until the device has read the input, or the buffer has the output. Throws Error.
  void complete();
  /// Call this instead of complete() if the device has certainly read the frame.
  void completed() noexcept { busy_ = false; }
  /// Returns true if end_in_stream_order() may be called.
  bool is_stream_ordered() const;
  /// Call this instead of end() and complete(). Does not wait on the host. Throws Error.
  void end_in_stream_order();

 private:
  bool in_place() const noexcept;
  bool downloads() const noexcept { return writes() && !in_place(); }
  void bring_to_device();
  Staging& staging(Device& queue);

  const FrameQueues queues_;
  const CudaContext context_;
  PageLocks* const page_locks_;
  const FrameFormat format_;
  const GstMapFlags access_;
  StreamOrder order_;
  const std::unique_ptr<Event> uploaded_, computed_;
  std::unique_ptr<Staging> staging_;
  std::unique_ptr<repack::Repack> repack_;  ///< nullptr if operations read buffers directly
  DeviceFrame own_stored_, own_frame_;

  std::optional<MappedBuffer> buffer_;
  bool busy_ = false;  ///< the device may still use the buffer
  Frame stored_, frame_;
};

}  // namespace cudavision
