// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/core/device.h"
#include "gst/core/videoformat.h"

namespace cudavision {

/// True if such frames are in CUDA memory that carries a stream, provided that their pool has one.
bool order_is_known(const FrameFormat& format);
/// True if all of a buffer's memory is CUDA memory that carries a stream.
bool order_is_known(GstBuffer* buffer);
// Mark all memory of a buffer that carries a stream (cudastream.h).
void mark_unfinished(GstBuffer* buffer);
void mark_finished(GstBuffer* buffer);

/// Orders a device's work on buffers after and before other elements' work on the streams of their
/// CUDA memory (cudastream.h), by events, without a wait on the host. All calls, including the
/// destructor, need the device's context, to which the memory belongs.
class StreamOrder {
 public:
  explicit StreamOrder(Device& device) : device_(device) {}

  /// The device waits for other elements' work on the mapped buffer. Ignores memory that carries no
  /// stream or is not marked unfinished; mapping for writing marks it.
  void begin(GstBuffer* buffer);
  /// The buffer's streams wait for the work that is now enqueued on the device.
  void end(GstBuffer* buffer);

 private:
  /// For the stream of the last memory, which is usually a pool's.
  struct Neighbour {
    std::unique_ptr<Device> device;
    std::unique_ptr<Event> event;
  };

  Neighbour& neighbour(CudaStream stream);

  Device& device_;
  Neighbour neighbour_;
  std::unique_ptr<Event> event_;  ///< of device_
};

}  // namespace cudavision
