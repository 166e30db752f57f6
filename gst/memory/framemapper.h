// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/core/device.h"
#include "cuda/repack/repack.h"
#include "gst/core/videoformat.h"
#include "gst/memory/deviceframe.h"
#include "gst/memory/framequeues.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/mappedbuffer.h"
#include "gst/memory/pagelocks.h"
#include "gst/memory/staging.h"
#include "gst/memory/streamorder.h"

namespace cudavision {

/// Brings the frames of one pad to the device and back.
/// Buffers in CUDA memory of our context are used in place, and on the CPU device all buffers are.
/// Frames to read in the memory of another GPU are copied from there, where the two can do that.
/// For other buffers the mapper keeps one frame of device memory and, for the rows that are not
/// page-locked, page-locked memory (Staging). It allocates both with the first buffer that needs
/// them. PageLocks lock buffers that come back. Frames that operations cannot read as they lie in
/// buffers are unpacked on the device, into another frame that it keeps, and packed again. So it
/// carries one frame at a time: the last one must be complete, or have ended in the order of a
/// stream, before the next.
///
/// The host need not wait for a buffer all of whose memory is in place and carries a stream:
/// whoever uses it next does so in the order of that stream, while the device still works on it.
///
/// All calls, constructors and destructors included, are made with the session's context current.
/// One thread may enqueue the work on a frame, and another one complete it.
class FrameMapper {
  /// Waits for the device when it goes out of scope, unless that has been done. Input and Output
  /// declare one after their mapping, so it goes first: whatever is thrown, no buffer is unmapped
  /// and no memory reused while the device still works on it.
  class WaitForDevice {
   public:
    explicit WaitForDevice(const FrameQueues& queues) : queues_(queues) {}
    /// An error of the device is only logged here: either something has been thrown already, or
    /// complete() has reported the error.
    ~WaitForDevice();
    void done() noexcept { done_ = true; }
    WaitForDevice(const WaitForDevice&) = delete;
    WaitForDevice& operator=(const WaitForDevice&) = delete;

   private:
    const FrameQueues& queues_;
    bool done_ = false;
  };

 public:
  /// page_locks is nullptr on the CPU device.
  FrameMapper(const FrameQueues& queues, const CudaContext& context, PageLocks* page_locks,
              const FrameFormat& format);

  const FrameFormat& format() const noexcept { return format_; }

  class Output;

  /// A frame to read, on the device. Enqueues its upload and its unpacking.
  class Input {
   public:
    Input(FrameMapper& mapper, GstBuffer* buffer);
    GstBuffer* buffer() const noexcept { return buffer_.buffer(); }
    const ConstFrame& frame() const noexcept { return frame_; }
    /// The same frame as it lies in buffers, on the device.
    const ConstFrame& stored() const noexcept { return stored_; }
    /// Call this when all work that reads the frame is enqueued, unless the end of an Output comes
    /// later on the same queues.
    void end();
    /// Returns the event after which complete() does not wait.
    Event& completion() noexcept { return *mapper_.computed_; }
    /// Waits until the device has read the frame. Throws Error. Call completed() instead if the
    /// device is known to have read it, as it has when an Output of that work is complete.
    void complete();
    void completed() noexcept { wait_.done(); }
    /// True if end_in_stream_order() may be called.
    bool is_stream_ordered() const;
    /// Call this in place of end() and complete(): the host does not wait. Throws Error.
    void end_in_stream_order();

   private:
    FrameMapper& mapper_;
    MappedBuffer buffer_;
    WaitForDevice wait_;
    ConstFrame stored_, frame_;
  };

  /// A frame to write, on the device, in the layout of the format.
  class Output {
   public:
    Output(FrameMapper& mapper, GstBuffer* buffer);
    GstBuffer* buffer() const noexcept { return buffer_.buffer(); }
    const Frame& frame() const noexcept { return frame_; }
    /// Call this when all work on the frame is enqueued. Enqueues its packing and its download.
    void end();
    /// Returns the event after which complete() does not wait.
    Event& completion() noexcept;
    /// Waits until the frame is in the buffer. Throws Error.
    void complete();
    /// True if end_in_stream_order() may be called.
    bool is_stream_ordered() const;
    /// Call this in place of end() and complete(): the host does not wait. Enqueues the packing of
    /// the frame. Throws Error.
    void end_in_stream_order();

   private:
    FrameMapper& mapper_;
    MappedBuffer buffer_;
    WaitForDevice wait_;
    Frame stored_;  ///< on the device, as it lies in buffers
    Frame frame_;
  };

 private:
  void bring_to_device(const MappedBuffer& buffer, const Frame& own);
  bool in_place(const MappedBuffer& buffer) const;
  bool is_stream_ordered(const MappedBuffer& buffer) const;
  const Frame& own_frame() { return stored_.allocated(queues_.compute, format_.storage.frame); }
  const Frame& unpacked_frame() { return unpacked_.allocated(queues_.compute, format_.layout); }
  Staging& staging(Device& queue);

  const FrameQueues queues_;
  const CudaContext context_;
  PageLocks* const page_locks_;
  const FrameFormat format_;
  StreamOrder order_;
  DeviceFrame stored_, unpacked_;
  const std::unique_ptr<Event> uploaded_, computed_;  ///< each of one queue
  std::unique_ptr<Staging> staging_;
  std::unique_ptr<repack::Repack> repack_;  ///< none if operations read frames as they are
};

}  // namespace cudavision
