// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/core/device.h"
#include "cuda/repack/repack.h"
#include "gst/base/videoformat.h"
#include "gst/memory/deviceframe.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/mappedbuffer.h"
#include "gst/memory/staging.h"

namespace cudavision {

/// Brings the frames of one pad to the device and back; nothing else uploads or downloads frames.
/// Buffers in CUDA memory of our context are used in place, and on the CPU device all buffers are.
/// For other buffers the mapper keeps one frame of device memory and, for those that are not
/// page-locked, as much page-locked memory. It allocates both with the first buffer that needs
/// them. Frames that operations cannot read as they lie in buffers are unpacked on the device, into
/// another frame that it keeps, and packed again.
///
/// All calls, constructors and destructors included, are made with the session's context current.
class FrameMapper {
  /// Waits for the device when it goes out of scope, unless that has been done. Input and Output
  /// declare one after their mapping, so it goes first: whatever is thrown, no buffer is unmapped
  /// and no memory reused while the device still works on it.
  class WaitForDevice {
   public:
    explicit WaitForDevice(Device& device) : device_(device) {}
    /// An error of the device is only logged here: either something has been thrown already, or
    /// complete() has reported the error.
    ~WaitForDevice();
    void done() noexcept { done_ = true; }
    WaitForDevice(const WaitForDevice&) = delete;
    WaitForDevice& operator=(const WaitForDevice&) = delete;

   private:
    Device& device_;
    bool done_ = false;
  };

 public:
  FrameMapper(Device& device, const CudaContext& context, const FrameFormat& format);

  const FrameFormat& format() const noexcept { return format_; }

  class Output;

  /// A frame to read, on the device. Enqueues its upload and its unpacking.
  class Input {
   public:
    Input(FrameMapper& mapper, GstBuffer* buffer);
    const ConstFrame& frame() const noexcept { return frame_; }
    /// The same frame as it lies in buffers, on the device.
    const ConstFrame& stored() const noexcept { return stored_; }
    /// Waits until the device has read the frame. Throws Error.
    void complete();
    /// Call this instead after Device::finish().
    void completed() noexcept { wait_.done(); }

   private:
    friend class Output;
    FrameMapper& mapper_;
    MappedBuffer buffer_;
    WaitForDevice wait_;
    ConstFrame stored_, frame_;
  };

  /// A frame to write, on the device, in the layout of the format.
  class Output {
   public:
    Output(FrameMapper& mapper, GstBuffer* buffer);
    const Frame& frame() const noexcept { return frame_; }
    /// Call this when all work on the frame is enqueued. Brings the frame into the buffer and waits
    /// for the device. Throws Error. The inputs of that work are then complete as well, so their
    /// destructors need not wait again.
    template <class... Inputs>
    void complete(Inputs&... inputs) {
      download();
      mapper_.device_.finish();
      (inputs.wait_.done(), ...);
      wait_.done();
    }

    /// Bring the frame into the buffer, and note that the device has finished. With these, several
    /// outputs share one wait: download() each, call Device::finish(), then completed() for each
    /// output and input.
    void download();
    void completed() noexcept { wait_.done(); }

   private:
    FrameMapper& mapper_;
    MappedBuffer buffer_;
    WaitForDevice wait_;
    Frame stored_;  ///< on the device, as it lies in buffers
    Frame frame_;
  };

 private:
  bool in_place(const MappedBuffer& buffer) const;
  const Frame& own_frame() { return stored_.allocated(device_, format_.storage.frame); }
  const Frame& unpacked_frame() { return unpacked_.allocated(device_, format_.layout); }
  Staging& staging();

  Device& device_;
  const CudaContext context_;
  const FrameFormat format_;
  DeviceFrame stored_, unpacked_;
  std::unique_ptr<Staging> staging_;
  std::unique_ptr<repack::Repack> repack_;  ///< none if operations read frames as they are
};

}  // namespace cudavision
