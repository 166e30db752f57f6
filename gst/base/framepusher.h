// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gst/base/filterframes.h"
#include "gst/base/scoped.h"

namespace cudavision {

/// Completes frames and hands them downstream, in order, in a thread of its own. Meanwhile the
/// streaming thread enqueues the work on the next frames. As after a queue element, a flow return
/// of downstream reaches upstream with a later frame.
class FramePusher {
 public:
  /// complete() waits for the device, posts an error if that fails, and returns whether the frame
  /// may go downstream. It is also called, with false, for a frame that will not: it then only
  /// waits. It runs in the pusher's thread, or in one that drops frames.
  using Complete = std::function<bool(std::unique_ptr<FrameInFlight> work, bool wanted)>;

  FramePusher(GstPad* pad, Complete complete);
  ~FramePusher() { stop(); }
  FramePusher(const FramePusher&) = delete;
  FramePusher& operator=(const FramePusher&) = delete;

  /// Starts the thread. At most `limit` frames are in flight. Throws ElementError.
  void start(std::size_t limit);
  /// Drops the frames in flight and ends the thread, if it was started. The pad must be flushing,
  /// so that downstream does not block.
  void stop() noexcept;
  bool started() const noexcept { return limit_ > 0; }
  std::size_t limit() const noexcept { return limit_; }  ///< 0 if not started

  // The following are called by the streaming thread.
  /// Waits until another frame may be started.
  void wait_for_room();
  /// Takes a frame, with the work that is enqueued for it; none if the device does nothing.
  void add(GstBuffer* buffer, std::unique_ptr<FrameInFlight> work) noexcept;
  /// True if all frames have gone downstream, or have been dropped.
  bool idle();
  /// Waits until that is so.
  void drain();
  /// Returns the first flow return of downstream since the last call that is an error, else
  /// GST_FLOW_OK. The frames that were in flight behind that frame are dropped.
  GstFlowReturn take_flow();
  /// Forgets that downstream wants no more frames, because a new segment begins.
  void forget_eos();

  /// Call this when a flush has started and the pad refuses all, from any thread. If that is the
  /// pusher's own, which happens if downstream or a handler of messages seeks, the streaming thread
  /// must not wait for frames, as the seek in turn waits for the streaming thread: the frames in
  /// flight no longer count.
  void flush();

 private:
  struct Entry {
    OwnedBuffer buffer;
    std::unique_ptr<FrameInFlight> work;
  };
  using Lock = std::unique_lock<std::mutex>;

  void run();
  Entry take_next();
  GstFlowReturn push(Entry entry);
  void drop(Entry entry);

  GstPad* const pad_;
  const Complete complete_;
  std::size_t limit_ = 0;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::vector<Entry> waiting_;  ///< oldest first
  std::size_t in_flight_ = 0;   ///< those waiting, and the one that is being pushed
  GstFlowReturn flow_ = GST_FLOW_OK;
  bool stopping_ = false;
  std::thread thread_;

  bool flushed_ = false;  ///< the frame that is being pushed no longer counts; for run() only
};

}  // namespace cudavision
