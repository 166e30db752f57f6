// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <deque>
#include <span>

#include "gst/base/devicesession.h"
#include "gst/core/scoped.h"
#include "gst/denoise/framewindow.h"
#include "gst/flight/frameslotpool.h"

namespace cudavision {

/// The frames that wait for later ones, which are searched, too. Their pixels wait in a window of
/// frames on the device, so that upstream gets its buffers back at once, however few it has. Their
/// times, flags and metas wait in buffers without memory. It belongs to the streaming thread. All
/// calls are made in the session's context, the destructor included, unless something else is said.
class FrameDelay {
 public:
  struct Frame {
    OwnedBuffer buffer;
    /// See gst_cuda_vision_filter_push(). The buffer of a missing frame waits itself.
    const ConstFrame* stored;
  };

  /// frames: see FrameWindow.
  FrameDelay(const DeviceSession& session, const FrameFormat& in, int frames);

  /// Takes a frame of upstream, and enqueues its upload.
  void store(GstBuffer* in);
  /// Waits until the device has the last frame, whether or not earlier frames are still in flight.
  /// Returns true if a new scene begins with it, which changes neighbours(). Throws Error.
  bool finish_upload();

  // No context need be current in the next four.
  bool empty() const { return waiting_.empty(); }
  /// True if the frames have come for which the oldest one waits.
  bool is_due() const { return waiting_.size() > static_cast<std::size_t>(window_.radius()); }
  Frame take_oldest();
  /// Drops all frames. The next one does not continue the ones before.
  void clear() noexcept;

  /// Begins the search around the frame that was taken last. Call it again if neighbours() change.
  void search();
  /// The other frames to search, while they are there and in the same scene.
  std::span<const ConstFrame> neighbours() const { return window_.neighbours(); }

 private:
  FrameWindow window_;
  FrameSlotPool uploads_;      ///< with one slot
  PendingGpuWork upload_;      ///< of the last frame, if it may not have ended
  std::deque<Frame> waiting_;  ///< oldest first
  guint64 arrived_ = 0;        ///< numbers the frames
  guint64 number_ = 0;         ///< of the frame that was taken last
  ConstFrame stored_;          ///< that frame
};

}  // namespace cudavision
