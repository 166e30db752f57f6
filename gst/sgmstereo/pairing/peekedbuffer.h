// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstaggregator.h>
#include <gst/video/video.h>

#include <optional>

#include "gst/core/frameinfo.h"
#include "gst/core/scoped.h"
#include "gst/sgmstereo/pairing/framepairing.h"

namespace cudavision {

/// A frame taken out of a pad's queue, which has room for one frame.
struct HeldFrame {
  OwnedBuffer buffer;
  WaitingFrame waiting;
  FrameTimes times;
};

/// The oldest frame of a pad, held or in the queue. For the aggregating thread.
class PeekedBuffer {
 public:
  /// `info` describes the frame in the queue, or is nullptr.
  PeekedBuffer(GstAggregatorPad* pad, std::optional<HeldFrame>& held, const GstVideoInfo* info);

  GstBuffer* buffer() const noexcept { return buffer_.get(); }
  const FrameStream& stream() const noexcept { return stream_; }
  FrameTimes times() const;

  /// Takes the frame out of the queue, so that the next frame can arrive.
  void hold();
  /// Removes the frame from the queue or from `held`. This object keeps its reference.
  void consume();
  void release() { buffer_.reset(); }

 private:
  GstAggregatorPad* const pad_;
  std::optional<HeldFrame>& held_;
  OwnedBuffer buffer_;
  FrameStream stream_;
};

GstSegment current_segment(GstAggregatorPad* pad);

}  // namespace cudavision
