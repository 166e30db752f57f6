// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/core/device.h"
#include "gst/base/videoformat.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/mappedbuffer.h"
#include "gst/memory/staging.h"

namespace cudavision {

/// Brings the frames of one pad to the device and back; nothing else uploads or downloads frames.
/// Buffers in CUDA memory of our context, and on the CPU device all buffers, are used in place. For
/// the others the mapper keeps one frame of device memory and, unless they are page-locked, as much
/// page-locked memory; both from the first such buffer on.
class FrameMapper {
 public:
  FrameMapper(Device& device, const CudaContext& context, const FrameFormat& format);

  const FrameFormat& format() const noexcept { return format_; }

  /// A frame to read, on the device. Enqueues its upload. Must live until the device has finished.
  class Input {
   public:
    Input(FrameMapper& mapper, GstBuffer* buffer);
    const ConstFrame& frame() const noexcept { return frame_; }

   private:
    MappedBuffer planes_;
    ConstFrame frame_;
  };

  /// A frame to write, on the device.
  class Output {
   public:
    Output(FrameMapper& mapper, GstBuffer* buffer);
    const Frame& frame() const noexcept { return frame_; }
    /// Once all work on the frame is enqueued: brings it into the buffer and waits for the device.
    void complete();

   private:
    FrameMapper& mapper_;
    MappedBuffer planes_;
    Frame frame_;
  };

 private:
  bool in_place(const MappedBuffer& planes) const;
  const Frame& own_frame();
  Staging& staging();

  Device& device_;
  const CudaContext context_;
  const FrameFormat format_;
  Buffer memory_;
  Frame frame_;
  std::unique_ptr<Staging> staging_;
};

/// Waits for the device when it goes out of scope, so that no buffer is unmapped and no memory
/// reused under work that is still queued, whatever has been thrown.
class DeviceIdle {
 public:
  explicit DeviceIdle(Device& device) : device_(device) {}
  ~DeviceIdle();
  /// The device has been waited for.
  void done() noexcept { done_ = true; }
  DeviceIdle(const DeviceIdle&) = delete;
  DeviceIdle& operator=(const DeviceIdle&) = delete;

 private:
  Device& device_;
  bool done_ = false;
};

}  // namespace cudavision
