// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <deque>
#include <span>

#include "gst/base/devicesession.h"
#include "gst/core/scoped.h"
#include "gst/denoise/framewindow.h"
#include "gst/flight/frameslotpool.h"

namespace cudavision {

/// A queue of delayed frames. Pixels are copied to a FrameWindow on the device, so that upstream
/// gets its buffers back soon. Buffers without memory keep timestamps, flags and metas. Only
/// the streaming thread may use the queue. All functions need the session's context unless noted.
class FrameDelay {
 public:
  struct Frame {
    OwnedBuffer buffer;
    /// The argument for gst_cuda_vision_filter_push(); nullptr for a missing frame.
    const ConstFrame* stored;
  };

  FrameDelay(const DeviceSession& session, const FrameFormat& in, int frames);

  /// Enqueues the upload of a frame from upstream.
  void store(GstBuffer* in);
  /// Waits for the last stored frame's upload. Returns true if neighbours() change. Throws Error.
  bool finish_upload();

  // The next four functions need no CUDA context.
  bool empty() const { return waiting_.empty(); }
  /// Returns true if all later frames that the oldest frame needs are stored.
  bool is_due() const { return waiting_.size() > static_cast<std::size_t>(window_.radius()); }
  Frame take_oldest();
  void clear() noexcept;

  /// Selects neighbours() for the last taken frame. Call it again if finish_upload() returns true.
  void search();
  /// Returns the frames to search in addition to the last taken frame, all of the same scene.
  std::span<const ConstFrame> neighbours() const { return window_.neighbours(); }

 private:
  FrameWindow window_;
  FrameSlotPool uploads_;      ///< has one slot
  PendingGpuWork upload_;      ///< upload of the last stored frame; may still run
  std::deque<Frame> waiting_;  ///< oldest first
  guint64 arrived_ = 0;        ///< count of stored frames, which is the next frame's number
  guint64 number_ = 0;         ///< number of the last taken frame
  ConstFrame stored_;          ///< pixels of the last taken frame
};

}  // namespace cudavision
