// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda/core/device.h"
#include "gst/base/devicesession.h"
#include "gst/core/frameinfo.h"
#include "gst/core/scoped.h"

namespace cudavision {

/// Selects the frames that get a message: the first frame of each interval of running time, and all
/// frames without a running time. Late frames do not shift the intervals.
class FrameInterval {
 public:
  bool selects(GstClockTime running_time, GstClockTime interval);
  void reset() { base_ = next_ = GST_CLOCK_TIME_NONE; }

 private:
  GstClockTime base_ = GST_CLOCK_TIME_NONE;  ///< running time of the first selected frame
  GstClockTime last_ = 0;
  GstClockTime next_ = GST_CLOCK_TIME_NONE;
  GstClockTime interval_ = 0;
};

/// Returns a structure with the guint64 fields timestamp, stream-time, running-time and duration.
Structure structure_with_times(const char* name, const FrameTimes& times);

/// Posts results that the device has computed, as element messages, in the order of the frames. The
/// downloads are asynchronous, so several messages may be pending. A derived class owns the memory
/// of the slots.
///
/// Threads: any thread may call post_arrived() and discard(); all other functions are for the
/// streaming thread. No lock is held while a message is posted, because a bus sync handler may call
/// the element (e.g. by a flushing seek, which ends in discard()) or wait for another thread. Only
/// one thread posts at a time, which keeps the order. Other threads queue their messages for
/// that thread and return; only drain() waits for it.
class DeviceMessages {
 public:
  DeviceMessages(GstElement* element, const DeviceSession& session)
      : element_(element), session_(session) {}
  virtual ~DeviceMessages() = default;

  // The next two functions post messages, so no CUDA context may be current.
  /// Posts the messages whose downloads are complete.
  void post_arrived();
  /// Posts all pending messages. Returns when no other thread is posting.
  void drain();

  /// Drops the pending messages. A message that another thread is posting still arrives.
  void discard();
  /// Calls discard() and frees the slots. Needs the session's context.
  void release();

 protected:
  static constexpr std::size_t slot_count = 4;

  /// Makes the slot next() available. If all slots are pending, waits for the oldest message and
  /// posts it, so no CUDA context may be current. The first call after release() calls allocate().
  void reserve();
  /// Returns the slot for the next message. Other threads read pending slots only.
  std::size_t next() const { return next_; }
  /// Enqueues the download of host.size() bytes to `host`, which belongs to the slot next().
  void download(const void* device, const Buffer& host) const;
  /// Makes the slot next() pending. Enqueue its downloads first.
  void read_back(const FrameTimes& times);

  const DeviceSession& session() const { return session_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  struct Slot {
    std::unique_ptr<Event> arrived;
    FrameTimes times;
  };

  /// Allocates the memory of the slots, in the session's context.
  virtual void allocate() = 0;
  virtual void free_slots() = 0;
  // The base class calls the next two functions with the mutex held.
  virtual Structure describe(std::size_t slot, const FrameTimes& times) = 0;
  virtual void discarded() {}

  std::size_t oldest() const { return (next_ + slot_count - pending_) % slot_count; }
  void wait_for_oldest(Lock& lock);
  bool oldest_arrived();
  void post_arrived(Lock& lock);
  void post_described(Lock& lock);

  GstElement* const element_;
  const DeviceSession& session_;

  std::array<Slot, slot_count> slots_;
  std::size_t next_ = 0;

  std::mutex mutex_;  ///< guards the members below
  std::size_t pending_ = 0;
  std::vector<Structure> described_;  ///< the messages to post, oldest first
  std::thread::id poster_;            ///< the thread that is posting, if any
  std::condition_variable posted_;    ///< signals that no thread is posting
};

}  // namespace cudavision
