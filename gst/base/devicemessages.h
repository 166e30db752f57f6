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

/// Selects the frames for which a message is posted: the first one, then the first one of each
/// further interval of running time, without drift. A frame without a running time is always
/// selected.
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

/// Returns a structure with the fields timestamp, stream-time, running-time and duration (guint64,
/// as in the level element).
Structure structure_with_times(const char* name, const FrameTimes& times);

/// Carries what the device finds in frames to the bus, as element messages. The numbers are read
/// back after the frame's other work, without waiting for it, so several may be pending. They are
/// posted in the order of the frames. A derived class holds the memory of the slots for the
/// numbers.
///
/// Threads. All calls come from the streaming thread, or while there is none, except for
/// post_arrived() and discard(), which any thread may call at any time. One mutex guards what they
/// share. It is not held while a thread waits for the device, and not while a message is posted:
/// bus sync handlers then run in the posting thread, and may call the element, for example by a
/// flushing seek that ends in discard(), or wait for a thread that needs the mutex. The order of
/// the messages does not depend on it, because only one thread posts at a time. Others leave their
/// messages to that thread and go on, so that a slow handler does not stop them; only drain() waits
/// for it.
class DeviceMessages {
 public:
  DeviceMessages(GstElement* element, const DeviceSession& session)
      : element_(element), session_(session) {}
  virtual ~DeviceMessages() = default;

  // The next two post messages, so no context may be current.
  /// Posts the messages whose numbers have arrived on the host. May be called by any thread.
  void post_arrived();
  /// Waits for all pending numbers and posts them. Returns when no other thread is posting any
  /// more.
  void drain();

  /// Drops the pending messages. One that another thread is posting still arrives. May be called by
  /// any thread.
  void discard();
  /// Does the same, and frees the slots. Called in the session's context.
  void release();

 protected:
  static constexpr std::size_t slot_count = 4;

  /// Frees the slot next(). If all are pending, waits for the oldest and posts it, so no context
  /// may be current. The first call after release() calls allocate().
  void reserve();
  /// The slot for the next numbers. The streaming thread writes it; others only read those that are
  /// pending.
  std::size_t next() const { return next_; }
  /// Enqueues a download into the slot next().
  void download(const void* device, const Buffer& host) const;
  /// Makes the slot next() pending, once its downloads are enqueued.
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
  /// Returns the message of a slot whose numbers have arrived. The mutex is held.
  virtual Structure describe(std::size_t slot, const FrameTimes& times) = 0;
  /// Called when the pending messages are dropped. The mutex is held.
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

  std::mutex mutex_;  ///< guards what follows
  std::size_t pending_ = 0;
  std::vector<Structure> described_;  ///< oldest first; the next messages to be posted
  std::thread::id poster_;            ///< the thread that is posting, if there is one
  std::condition_variable posted_;    ///< signals that none is posting any more
};

}  // namespace cudavision
