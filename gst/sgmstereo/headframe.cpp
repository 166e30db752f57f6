// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/headframe.h"

#include "gst/base/scoped.h"

namespace cudavision {
namespace {

std::optional<std::int64_t> signed_running_time(const GstSegment& segment, GstBuffer* buffer) {
  if (segment.format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID(buffer))
    return std::nullopt;
  guint64 amount = 0;
  const int sign =
      gst_segment_to_running_time_full(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer), &amount);
  if (sign == 0)
    return std::nullopt;
  return sign * static_cast<std::int64_t>(amount);
}

}  // namespace

GstSegment current_segment(GstAggregatorPad* pad) {
  const ObjectLock lock(pad);
  return pad->segment;
}

HeadFrame::HeadFrame(GstAggregatorPad* pad)
    : pad_(pad), buffer_(gst_aggregator_pad_peek_buffer(pad)) {
  stream_.ended = gst_aggregator_pad_is_eos(pad);
  if (buffer_)
    stream_.frame = {signed_running_time(current_segment(pad), buffer_), is_missing_frame(buffer_)};
}

FrameTimes HeadFrame::times() const {
  return frame_times(current_segment(pad_), buffer_);
}

void HeadFrame::consume() {
  gst_aggregator_pad_drop_buffer(pad_);
}

}  // namespace cudavision
