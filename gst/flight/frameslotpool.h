// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gst/memory/cudastream.h"
#include "gst/memory/framemapper.h"

namespace cudavision {

/// How many frames one piece of work reads and writes at most.
inline constexpr std::size_t max_inputs = 2, max_outputs = 5;
/// Their buffers, which the array does not own; nullptr where there is none.
using InputFrames = std::array<GstBuffer*, max_inputs>;
using OutputFrames = std::array<GstBuffer*, max_outputs>;

/// The mappers of one frame in flight, or of one pair.
struct FrameSlot;
/// Unmaps the buffers of a slot, in the context, and gives the slot back to its FrameSlotPool.
struct FreeSlot {
  void operator()(FrameSlot* slot) const noexcept;
};

/// The work on a frame, or on a pair, from its mapped buffers until it is complete; or none.
/// FrameSlotPool::map() makes it. While the work is being enqueued, the frames are accessible on
/// the device; then end() and complete() are called. Whoever has the output buffers must not touch
/// them meanwhile. The destructor waits for the device as well. Any thread may have it.
class PendingGpuWork {
 public:
  PendingGpuWork() = default;
  explicit operator bool() const noexcept { return slot_ != nullptr; }

  ConstFrame input(std::size_t i) const;
  /// The same frame, before it was unpacked.
  ConstFrame stored_input(std::size_t i) const;
  /// Returns nullptr if there is none.
  const Frame* output(std::size_t i) const;

  /// Call this when all work is enqueued. Enqueues what brings the outputs into their buffers.
  /// on_host: the host needs more of the work than these buffers, so it waits in any case.
  void end(bool on_host);

  /// True if there is work, and complete() does not wait for it: whoever has the buffers next uses
  /// them in the order of the streams that their memory carries.
  bool is_in_stream_order() const noexcept { return slot_ && in_stream_order_; }
  /// True if complete() would not wait, or would fail.
  bool done() noexcept;
  /// Calls call(), in another thread, once done() holds. Only for work that is not done. Throws
  /// Error.
  void when_done(std::function<void()> call);

  /// Waits for the device unless is_in_stream_order(), and brings the outputs into their buffers.
  /// Then there is no work. Throws Error.
  void complete();

 private:
  friend class FrameSlotPool;
  explicit PendingGpuWork(FrameSlot* slot) : slot_(slot) {}

  std::unique_ptr<FrameSlot, FreeSlot> slot_;
  bool in_stream_order_ = false;  ///< it has ended so
};

/// Has a slot for each frame that may be in flight, which is free again when the work is complete.
/// With more than one, transfers and kernels of successive frames overlap. Calls are made in the
/// context, the destructor included. That waits until other threads have given all slots back; the
/// caller itself must have no work any more.
class FrameSlotPool {
 public:
  /// page_locks is nullptr on the CPU device.
  FrameSlotPool(const FrameQueues& queues, CudaContext context, PageLocks* page_locks,
                std::size_t count);
  ~FrameSlotPool();

  std::size_t count() const noexcept { return slots_.size(); }

  /// Prepares for inputs and outputs in these formats. No work may exist.
  void set_input(std::size_t i, const FrameFormat& format);
  void set_output(std::size_t i, const FrameFormat& format);
  void clear_output(std::size_t i);
  const FrameFormat& input_format(std::size_t i) const;
  const FrameFormat& output_format(std::size_t i) const;

  /// Maps buffers whose formats are set, and enqueues the uploads. Waits for a slot that another
  /// thread is about to give back; the caller itself must not have them all. The work holds a
  /// reference to each buffer, so until it is complete, none of them is writable.
  PendingGpuWork map(const InputFrames& in, const OutputFrames& out);

  /// Waits for work that was completed in the order of streams. Throws Error.
  void finish();

 private:
  friend struct FreeSlot;
  friend class PendingGpuWork;

  const FrameQueues queues_;
  const CudaContext context_;
  PageLocks* const page_locks_;
  std::vector<std::unique_ptr<FrameSlot>> slots_;
  /// A stream that only waits for others, so that no work waits for notices; made for the first.
  SharedStream notice_stream_;
  std::unique_ptr<Device> notices_;
  bool unfinished_ = false;  ///< the device may still be at work that is complete

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable freed_;
  std::vector<FrameSlot*> free_;  ///< the one that was freed first is the first
};

}  // namespace cudavision
