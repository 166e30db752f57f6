// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "gst/memory/cudastream.h"
#include "gst/memory/framemapper.h"

namespace cudavision {

inline constexpr std::size_t max_inputs = 2, max_outputs = 5;
// The buffers are not owned; nullptr means no buffer.
using InputFrames = std::array<GstBuffer*, max_inputs>;
using OutputFrames = std::array<GstBuffer*, max_outputs>;

/// The mappers of one frame or pair in flight.
struct FrameSlot;
/// Unmaps the buffers of a slot and returns the slot to its FrameSlotPool.
struct FreeSlot {
  void operator()(FrameSlot* slot) const noexcept;
};

/// The work on a frame or pair whose buffers FrameSlotPool::map() has mapped, or none. Enqueue the
/// work, then call end() and complete(). The output buffers must not be used before the work is
/// complete. The destructor also waits for the device. Any thread may own the object.
class PendingGpuWork {
 public:
  PendingGpuWork() = default;
  explicit operator bool() const noexcept { return slot_ != nullptr; }

  // The next three functions return frames in device memory.
  ConstFrame input(std::size_t i) const;
  /// Returns the input as it was before unpacking.
  ConstFrame stored_input(std::size_t i) const;
  /// Returns nullptr if map() was called without a buffer for this output.
  const Frame* output(std::size_t i) const;

  /// Enqueues packing and download of the outputs. Enqueue all other work first. Needs the pool's
  /// context. If the host needs other results, too, set `on_host`, so that complete() waits.
  void end(bool on_host);

  /// Returns true if complete() need not wait, because the next user of the buffers works in stream
  /// order on the streams of their memory. Returns false if there is no work.
  bool is_in_stream_order() const noexcept { return slot_ && in_stream_order_; }
  /// Returns true if complete() would not wait, or would fail.
  bool done() noexcept;
  /// Calls `call` in another thread when done() becomes true. done() must be false. Throws Error.
  void when_done(std::function<void()> call);

  /// Waits for the device unless is_in_stream_order(), and copies staged outputs to their buffers.
  /// Afterwards there is no work. Throws Error.
  void complete();

 private:
  friend class FrameSlotPool;
  explicit PendingGpuWork(FrameSlot* slot) : slot_(slot) {}

  std::unique_ptr<FrameSlot, FreeSlot> slot_;
  bool in_stream_order_ = false;  ///< set by end()
};

/// The slots for frames in flight. With several slots, transfers and kernels of successive frames
/// overlap. set_input(), set_output(), clear_output(), map() and the destructor need `context`. The
/// destructor waits until other threads have returned their slots; the caller must own no work.
class FrameSlotPool {
 public:
  /// `page_locks` is nullptr on the CPU device.
  FrameSlotPool(const FrameQueues& queues, CudaContext context, PageLocks* page_locks,
                std::size_t count);
  ~FrameSlotPool();

  std::size_t count() const noexcept { return slots_.size(); }

  // Call the next three functions only while no PendingGpuWork exists.
  void set_input(std::size_t i, const FrameFormat& format);
  void set_output(std::size_t i, const FrameFormat& format);
  void clear_output(std::size_t i);
  const FrameFormat& input_format(std::size_t i) const;
  const FrameFormat& output_format(std::size_t i) const;

  /// Maps buffers whose formats are set, and enqueues uploads and unpacking. Waits for a free
  /// slot; the calling thread must not own all slots. The work holds a reference to each buffer, so
  /// no buffer is writable until the work is complete.
  PendingGpuWork map(const InputFrames& in, const OutputFrames& out);

  /// Waits for the GPU to finish work for which complete() did not wait. Throws Error.
  void finish();

 private:
  friend struct FreeSlot;
  friend class PendingGpuWork;

  const FrameQueues queues_;
  const CudaContext context_;
  PageLocks* const page_locks_;
  std::vector<std::unique_ptr<FrameSlot>> slots_;
  // Created by the first when_done(). No GPU work waits for callbacks on this separate stream.
  SharedStream notice_stream_;
  std::unique_ptr<Device> notices_;
  bool unfinished_ = false;  ///< the GPU may still run work for which complete() did not wait

  std::mutex mutex_;  ///< guards the members below
  std::condition_variable freed_;
  std::vector<FrameSlot*> free_;  ///< the slot that was freed first is at the front
};

}  // namespace cudavision
