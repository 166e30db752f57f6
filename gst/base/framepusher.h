// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "gst/base/filterframes.h"

namespace cudavision {

/// Completes frames and hands them downstream, in order, in a thread of its own. Meanwhile the
/// streaming thread enqueues the work on the next frames. As after a queue element, a flow return
/// of downstream reaches upstream with a later frame.
class FramePusher {
 public:
  /// complete() waits for the device, posts an error if that fails, and returns whether the frame
  /// may go downstream. It is also called, with false, for a frame that will not: it then only
  /// waits. Both happen in the pusher's thread.
  using Complete = std::function<bool(std::unique_ptr<FrameInFlight> work, bool wanted)>;

  /// At most `limit` frames are in flight.
  FramePusher(GstPad* pad, std::size_t limit, Complete complete);
  /// Drops the frames in flight. The pad must be flushing, so that downstream does not block.
  ~FramePusher();
  FramePusher(const FramePusher&) = delete;
  FramePusher& operator=(const FramePusher&) = delete;

  std::size_t limit() const noexcept { return limit_; }

  // The following are called by the streaming thread.
  /// Waits until another frame may be started.
  void wait_for_room();
  /// Takes a frame, with the work that is enqueued for it; none if the device does nothing.
  void add(GstBuffer* buffer, std::unique_ptr<FrameInFlight> work);
  /// Waits until all frames have gone downstream, or have been dropped.
  void drain();
  /// Returns the first flow return other than GST_FLOW_OK since the last call. The frames that were
  /// in flight behind that frame are dropped.
  GstFlowReturn take_flow();

 private:
  struct Entry {
    GstBuffer* buffer;
    std::unique_ptr<FrameInFlight> work;
  };

  void run();
  GstFlowReturn push(Entry entry);

  GstPad* const pad_;
  const std::size_t limit_;
  const Complete complete_;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::deque<Entry> waiting_;
  std::size_t in_flight_ = 0;  ///< those waiting, and the one that is being pushed
  GstFlowReturn flow_ = GST_FLOW_OK;
  bool stopping_ = false;
  std::thread thread_;  ///< started with the first frame
};

}  // namespace cudavision
