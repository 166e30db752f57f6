// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstaggregator.h>

#include "gst/base/frameinfo.h"
#include "gst/sgmstereo/framepairing.h"

namespace cudavision {

/// The frame at the head of a pad's queue, while the aggregating thread looks at it.
class HeadFrame {
 public:
  explicit HeadFrame(GstAggregatorPad* pad);
  ~HeadFrame() { release(); }
  HeadFrame(const HeadFrame&) = delete;
  HeadFrame& operator=(const HeadFrame&) = delete;

  GstBuffer* buffer() const noexcept { return buffer_; }
  /// As next_step() takes it.
  const FrameStream& stream() const noexcept { return stream_; }
  FrameTimes times() const;

  /// Takes it out of the queue. It stays with this object until release().
  void consume();
  void release() { gst_clear_buffer(&buffer_); }

 private:
  GstAggregatorPad* const pad_;
  GstBuffer* buffer_;
  FrameStream stream_;
};

/// The segment that the pad's frames lie in.
GstSegment segment_of(GstAggregatorPad* pad);

/// Adds an always-pad of that name, from the class's template.
GstAggregatorPad* add_sink_pad(GstElement* element, const char* name);

}  // namespace cudavision
