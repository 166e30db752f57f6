// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "gst/core/scoped.h"
#include "gst/flight/frameslotpool.h"

namespace cudavision {

/// Completes frames and pushes them on one pad, in order, in its own thread. Meanwhile the
/// streaming thread enqueues the work on the next frames. As after a queue element, upstream gets
/// downstream's flow return with a later frame.
///
/// The thread is a GstTask, so that its STREAM_STATUS messages let applications choose its thread
/// pool and priority. In this thread, a pad probe or message handler may stop and even release the
/// element, so the thread shares the ownership of the pusher.
class FramePusher : public std::enable_shared_from_this<FramePusher> {
 public:
  struct Frame {
    OwnedBuffer buffer;
    PendingGpuWork work;
  };
  /// Completes a frame in the pusher's thread. Returns nullptr after posting an error.
  using Complete = std::function<OwnedBuffer(Frame frame)>;

  /// `pad` is a source pad of the element. The element must call stop().
  FramePusher(GstPad* pad, Complete complete);
  FramePusher(const FramePusher&) = delete;
  FramePusher& operator=(const FramePusher&) = delete;

  /// Allows set_limit() to start the thread until stop() is called.
  void open();
  /// Drops the waiting frames and ends the thread, if any. The pad must be flushing, so that
  /// downstream does not block. If the pusher's own thread calls this, the frame being pushed is no
  /// longer in flight, and the thread ends after the push. The streaming thread must not call this,
  /// because the pusher's thread may be waiting for the streaming thread.
  void stop() noexcept;
  bool started() const { return limit() > 0; }
  std::size_t limit() const;  ///< maximum number of frames in flight; 0 while stopped

  // The next six functions are for the streaming thread. stop() ends their waits.
  /// Sets the limit while no frame is in flight. A limit above 0 starts the thread, which runs
  /// until stop(). Returns the limit in force, which is 0 after stop(). Throws ElementError.
  std::size_t set_limit(std::size_t limit);
  /// Waits until another frame may be started, or returns the flow return that prevents it.
  GstFlowReturn wait_for_room();
  void add(Frame frame) noexcept;
  /// Returns true if all frames have been pushed or dropped.
  bool idle() const;
  /// Waits until idle(). Drops frames that wait for a link.
  void drain();
  /// Returns and clears the stored flow return: GST_FLOW_OK, or the first failure, after which it
  /// also drops the frames in flight.
  GstFlowReturn take_flow();

  // Any thread may call the next two functions.
  /// Clears the stored flow return if it equals `flow`. Call this with EOS for a new stream or
  /// segment, and with NOT_LINKED to push waiting frames when downstream may be linked again.
  void forget_flow(GstFlowReturn flow);
  /// Call this after the parent class has handled FLUSH_START. If the pusher's own thread seeks,
  /// drops the frames in flight: the seek waits for the streaming thread, so the streaming thread
  /// must not wait for frames.
  void flush();

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Thread;

  bool push_next(const Thread& thread);
  GstFlowReturn push(Frame frame, unsigned generation);
  GstFlowReturn take_flow(Lock& lock);
  // As in a queue element, frames wait until downstream is linked again.
  bool waits_for_link() const { return flow_ == GST_FLOW_NOT_LINKED && !waiting_.empty(); }
  bool in_own_thread() const;
  Frame take_next();
  void drop_waiting(Lock& lock);
  void end_frame(unsigned generation);
  void begin_generation();

  GstPad* const pad_;
  const Complete complete_;

  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  bool open_ = false;
  std::shared_ptr<Thread> thread_;  ///< the last thread; may be ending
  std::size_t limit_ = 0;
  std::vector<Frame> waiting_;  ///< oldest first
  std::size_t in_flight_ = 0;   ///< frames waiting, being pushed or being dropped
  unsigned generation_ = 0;     ///< in_flight_ counts only frames of this generation
  unsigned links_ = 0;          ///< how often forget_flow() was called for NOT_LINKED
  GstFlowReturn flow_ = GST_FLOW_OK;
};

}  // namespace cudavision
