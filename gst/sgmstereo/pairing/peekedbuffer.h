// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstaggregator.h>
#include <gst/video/video.h>

#include <optional>

#include "gst/core/frameinfo.h"
#include "gst/core/scoped.h"
#include "gst/sgmstereo/pairing/framepairing.h"

namespace cudavision {

/// A frame that was taken out of a pad's queue so that the one after it can arrive: the queue of a
/// GstAggregatorPad has room for one.
struct HeldFrame {
  OwnedBuffer buffer;
  WaitingFrame waiting;
  FrameTimes times;
};

/// The oldest frame of a pad, if there is one: the held frame, else the one at the head of the
/// pad's queue. Only the aggregating thread may use it.
class PeekedBuffer {
 public:
  /// held is the held frame of the pad, if there is one. info describes the frames at the head of
  /// the queue; it is nullptr if that is unknown.
  PeekedBuffer(GstAggregatorPad* pad, std::optional<HeldFrame>& held, const GstVideoInfo* info);

  GstBuffer* buffer() const noexcept { return buffer_.get(); }
  /// The stream as next_step() takes it.
  const FrameStream& stream() const noexcept { return stream_; }
  FrameTimes times() const;

  bool is_held() const noexcept { return held_.has_value(); }
  /// Takes the frame out of the queue, and holds it.
  void hold();

  /// Takes the frame out of the queue, or no longer holds it; this object keeps its reference to
  /// the buffer.
  void consume();
  /// Gives that reference up.
  void release() { buffer_.reset(); }

 private:
  GstAggregatorPad* const pad_;
  std::optional<HeldFrame>& held_;
  OwnedBuffer buffer_;
  FrameStream stream_;
};

/// Returns the segment of the frame at the head of the pad's queue.
GstSegment current_segment(GstAggregatorPad* pad);

}  // namespace cudavision
