// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstaggregator.h>

#include "gst/base/frameinfo.h"
#include "gst/sgmstereo/framepairing.h"

namespace cudavision {

/// The frame at the head of a pad's queue, if there is one. Only the aggregating thread may use it.
class HeadFrame {
 public:
  explicit HeadFrame(GstAggregatorPad* pad);
  ~HeadFrame() { release(); }
  HeadFrame(const HeadFrame&) = delete;
  HeadFrame& operator=(const HeadFrame&) = delete;

  GstBuffer* buffer() const noexcept { return buffer_; }
  /// The stream as next_step() takes it.
  const FrameStream& stream() const noexcept { return stream_; }
  FrameTimes times() const;

  /// Takes the frame out of the queue; this object keeps its reference to the buffer.
  void consume();
  /// Gives that reference up.
  void release() { gst_clear_buffer(&buffer_); }

 private:
  GstAggregatorPad* const pad_;
  GstBuffer* buffer_;
  FrameStream stream_;
};

/// Returns the segment of the frame at the head of the pad's queue.
GstSegment current_segment(GstAggregatorPad* pad);

}  // namespace cudavision
