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

/// Completes frames and pushes them on one pad, in order, in a thread of its own. Meanwhile the
/// streaming thread enqueues the work on the next frames. As after a queue element, a flow return
/// of downstream reaches upstream with a later frame.
///
/// The thread is a GstTask, as gst_pad_start_task() makes one: its STREAM_STATUS messages let
/// applications choose its thread pool and its priority. A probe on the pad, or a handler of
/// messages, may stop the element in that thread, while it pushes a frame, and even release the
/// element. So the thread shares the pusher with the element.
class FramePusher : public std::enable_shared_from_this<FramePusher> {
 public:
  /// A frame in flight: what is pushed when the work is complete.
  struct Frame {
    OwnedBuffer buffer;
    PendingGpuWork work;
  };
  /// complete() completes a frame and returns its buffer, or posts an error and returns none. It
  /// runs in the pusher's thread.
  using Complete = std::function<OwnedBuffer(Frame frame)>;

  /// The pad must live as long as the element and the thread, and the element must call stop().
  FramePusher(GstPad* pad, Complete complete);
  FramePusher(const FramePusher&) = delete;
  FramePusher& operator=(const FramePusher&) = delete;

  /// Lets set_limit() start the thread from now on, until stop().
  void open();
  /// Drops the frames in flight and ends the thread, if there is one. The pad must be flushing, so
  /// that downstream does not block. In the pusher's own thread, the frame that is being pushed no
  /// longer counts, and the thread ends when that push returns. The streaming thread must not call
  /// this: the pusher's thread may be waiting for it.
  void stop() noexcept;
  bool started() const { return limit() > 0; }
  std::size_t limit() const;  ///< how many frames may be in flight; 0 while stopped

  // The following are called by the streaming thread. Nobody waits any longer than until stop().
  /// Lets at most `limit` frames be in flight, none of which may be now. The first time that this
  /// is more than 0, starts the thread, which lives until stop(). Returns the limit in force: 0
  /// after stop(), of which the streaming thread may not know yet. Throws ElementError.
  std::size_t set_limit(std::size_t limit);
  /// Waits until another frame may be started, or takes the flow return because of which none may.
  GstFlowReturn wait_for_room();
  void add(Frame frame) noexcept;
  /// True if all frames have gone downstream, or have been dropped.
  bool idle() const;
  /// Waits until that is so. Frames that wait for downstream to be linked are dropped.
  void drain();
  /// Returns the first flow return of downstream since the last call that is an error, else
  /// GST_FLOW_OK. The frames that were in flight after that frame are dropped.
  GstFlowReturn take_flow();

  // The following may be called by any thread.
  /// Forgets a flow return of downstream: EOS, because a new segment begins, or NOT_LINKED, because
  /// downstream may be linked again. The frames that have waited for the link are pushed.
  void forget_flow(GstFlowReturn flow);
  /// Call this when a flush has started and the pad refuses all. If that is in the pusher's own
  /// thread, which happens if downstream or a handler of messages seeks, the streaming thread must
  /// not wait for frames, as the seek in turn waits for the streaming thread: the frames in flight
  /// no longer count.
  void flush();

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Thread;

  bool push_next(const Thread& thread);
  GstFlowReturn push(Frame frame, unsigned generation);
  GstFlowReturn take_flow(Lock& lock);
  // Like a queue element, keeps what downstream may get after it has been linked again.
  bool waits_for_link() const { return flow_ == GST_FLOW_NOT_LINKED && !waiting_.empty(); }
  bool in_own_thread() const;
  Frame take_next();
  void drop_waiting(Lock& lock);
  void count_off(unsigned generation);
  void begin_generation();

  GstPad* const pad_;
  const Complete complete_;

  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  bool open_ = false;
  std::shared_ptr<Thread> thread_;  ///< may be ending
  std::size_t limit_ = 0;
  std::vector<Frame> waiting_;  ///< oldest first
  std::size_t in_flight_ = 0;   ///< those waiting, and those that are being pushed or dropped
  unsigned generation_ = 0;     ///< frames of an earlier one no longer count in in_flight_
  unsigned links_ = 0;          ///< how often downstream may have been linked again
  GstFlowReturn flow_ = GST_FLOW_OK;
};

}  // namespace cudavision
