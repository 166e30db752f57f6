// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/core/device.h"
#include "gst/core/videoformat.h"

namespace cudavision {

/// True if all memory of such frames is CUDA memory that carries a stream, if it comes from pools
/// that name one.
bool order_is_known(const FrameFormat& format);
/// True if all of a buffer's memory is CUDA memory that carries a stream.
bool order_is_known(GstBuffer* buffer);
/// Marks all memory of a buffer that carries a stream, or takes the marks away (cudastream.h).
void mark_unfinished(GstBuffer* buffer);
void mark_finished(GstBuffer* buffer);

/// Lets a device work on buffers in the order of the streams that their CUDA memory carries
/// (cudastream.h), without letting the host wait. The device works on a stream of its own, which
/// waits for an event of the memory's stream, and that stream for an event of the device.
///
/// All calls, the destructor included, are made in the context of the device, to which the memory
/// belongs, too.
class StreamOrder {
 public:
  explicit StreamOrder(Device& device) : device_(device) {}

  /// Lets the device wait until the work is done that other elements have enqueued on the buffer,
  /// which must be mapped. Only memory that is marked unfinished counts, and mapping for writing
  /// marks it: what others read must not be overwritten. Memory without a stream is left alone.
  void begin(GstBuffer* buffer);
  /// Lets the streams of the buffer wait until the device has done the work that is enqueued on it
  /// now. Other elements use the buffer in the order of these streams.
  void end(GstBuffer* buffer);

 private:
  /// A device on the stream of the memory that was seen last, usually that of a pool.
  struct Neighbour {
    std::unique_ptr<Device> device;
    std::unique_ptr<Event> event;
  };

  Neighbour& neighbour(CudaStream stream);

  Device& device_;
  Neighbour neighbour_;
  std::unique_ptr<Event> event_;  ///< of the device
};

}  // namespace cudavision
