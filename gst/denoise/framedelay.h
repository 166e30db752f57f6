// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <deque>
#include <span>

#include "gst/base/devicesession.h"
#include "gst/core/scoped.h"
#include "gst/denoise/framewindow.h"
#include "gst/flight/frameslotpool.h"

namespace cudavision {

/// The delayed frames. Pixels are copied to a window on the device, so that upstream gets its
/// buffers back at once; times, flags and metas are in buffers without memory. For the streaming
/// thread. Functions and destructor need the session's context unless noted.
class FrameDelay {
 public:
  struct Frame {
    OwnedBuffer buffer;
    /// See gst_cuda_vision_filter_push(). nullptr for a missing frame.
    const ConstFrame* stored;
  };

  FrameDelay(const DeviceSession& session, const FrameFormat& in, int frames);

  /// Enqueues the upload of a frame from upstream.
  void store(GstBuffer* in);
  /// Waits for the last frame's upload only. Returns true if neighbours() change. Throws Error.
  bool finish_upload();

  // The next four functions need no context.
  bool empty() const { return waiting_.empty(); }
  /// True if the oldest frame need not wait any longer.
  bool is_due() const { return waiting_.size() > static_cast<std::size_t>(window_.radius()); }
  Frame take_oldest();
  /// Drops all frames.
  void clear() noexcept;

  /// Begins the search around the last taken frame. Call it again if neighbours() change.
  void search();
  /// The other frames to search, which are in the same scene.
  std::span<const ConstFrame> neighbours() const { return window_.neighbours(); }

 private:
  FrameWindow window_;
  FrameSlotPool uploads_;      ///< with one slot
  PendingGpuWork upload_;      ///< of the last frame; may still run
  std::deque<Frame> waiting_;  ///< oldest first
  guint64 arrived_ = 0;        ///< numbers the frames
  guint64 number_ = 0;         ///< of the last taken frame
  ConstFrame stored_;          ///< the last taken frame
};

}  // namespace cudavision
