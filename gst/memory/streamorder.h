// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/core/device.h"
#include "gst/core/videoformat.h"

namespace cudavision {

/// Returns true if memory of frames in this format carries a stream whenever their pool has one.
bool order_is_known(const FrameFormat& format);
/// Returns true if all of a buffer's memory is CUDA memory that carries a stream.
bool order_is_known(GstBuffer* buffer);
// In a buffer, mark all memory that carries a stream as unfinished or finished (cudastream.h).
void mark_unfinished(GstBuffer* buffer);
void mark_finished(GstBuffer* buffer);

/// Orders a device's work on a buffer after the previous element's work and before the next
/// element's work on the streams of its CUDA memory (cudastream.h). Uses events; the host does not
/// wait. All calls, including the destructor, need the device's context, which owns the memory.
class StreamOrder {
 public:
  explicit StreamOrder(Device& device) : device_(device) {}

  /// Makes the device wait for other elements' work on the mapped buffer. Ignores memory that
  /// carries no stream or is not marked unfinished; mapping for writing marks it.
  void begin(GstBuffer* buffer);
  /// Makes the buffer's streams wait for all work enqueued on the device so far.
  void end(GstBuffer* buffer);

 private:
  /// The last stream of other elements, kept because a pool's memory usually has one stream.
  struct OtherStream {
    std::unique_ptr<Device> device;
    std::unique_ptr<Event> event;
  };

  OtherStream& other_stream(CudaStream stream);

  Device& device_;
  OtherStream other_;
  std::unique_ptr<Event> event_;  ///< recorded on device_
};

}  // namespace cudavision
