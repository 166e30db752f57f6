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

/// Brings the frames of one pad to the device, or those that the device writes back. It maps one
/// buffer at a time, from map() to unmap(), and holds a reference to it.
///
/// Buffers in CUDA memory of our context are used in place, and on the CPU device all buffers are.
/// Frames to read in the memory of another GPU are copied from there, where the two can do that.
/// For other buffers the mapper keeps one frame of device memory and, for the rows that are not
/// page-locked, page-locked memory (Staging). It allocates both with the first buffer that needs
/// them. PageLocks lock buffers that come back. Frames that operations cannot read as they lie in
/// buffers are unpacked on the device, into another frame that it keeps, and packed again.
///
/// The host need not wait for a buffer all of whose memory is in place and carries a stream:
/// whoever uses it next does so in the order of that stream, while the device still works on it.
///
/// All calls, constructor and destructor included, are made with the session's context current. One
/// thread may enqueue the work on a frame, and another one complete it.
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

  /// Maps a buffer, and enqueues the upload and the unpacking of a frame to read. If this throws,
  /// the buffer may be mapped.
  void map(GstBuffer* buffer);
  bool is_mapped() const noexcept { return buffer_.has_value(); }
  /// Unmaps the buffer if there is one, and returns its reference. Waits for the device unless
  /// complete(), completed() or end_in_stream_order() was called. An error of the device is only
  /// logged here: either something has been thrown already, or complete() has reported the error.
  OwnedBuffer unmap() noexcept;

  // The following need a mapped buffer.
  /// The frame on the device, in the layout of the format. A frame to read must not be written to.
  const Frame& frame() const noexcept { return frame_; }
  /// The same frame on the device, in the layout of the buffer.
  const Frame& stored() const noexcept { return stored_; }
  /// Call this when all work on the frame is enqueued. Enqueues the packing and the download of a
  /// frame that was written.
  void end();
  /// Returns the event after which complete() does not wait.
  Event& completion() noexcept { return downloads() ? staging_->arrival() : *computed_; }
  /// Waits until the device has read the frame, or until the buffer has it. Throws Error.
  void complete();
  /// Call this in place of complete() if the device is known to have read the frame.
  void completed() noexcept { busy_ = false; }
  /// True if end_in_stream_order() may be called.
  bool is_stream_ordered() const;
  /// Call this in place of end() and complete(): the host does not wait. Throws Error.
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
  const std::unique_ptr<Event> uploaded_, computed_;  ///< each of one queue
  std::unique_ptr<Staging> staging_;
  std::unique_ptr<repack::Repack> repack_;  ///< none if operations read frames as they are
  DeviceFrame own_stored_, own_frame_;

  std::optional<MappedBuffer> buffer_;
  bool busy_ = false;  ///< the device may still use the buffer
  Frame stored_, frame_;
};

}  // namespace cudavision
