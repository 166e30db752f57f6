// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/peekedbuffer.h"

#include <algorithm>

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
  return sign * static_cast<std::int64_t>(std::min<guint64>(amount, G_MAXINT64));
}

}  // namespace

GstSegment current_segment(GstAggregatorPad* pad) {
  const ObjectLock lock(pad);
  return pad->segment;
}

PeekedBuffer::PeekedBuffer(GstAggregatorPad* pad, std::optional<HeldFrame>& held,
                           const GstVideoInfo* info)
    : pad_(pad), held_(held), buffer_(gst_aggregator_pad_peek_buffer(pad)) {
  stream_.ended = gst_aggregator_pad_is_eos(pad);
  if (buffer_)
    stream_.frame = {signed_running_time(current_segment(pad), buffer_.get()),
                     is_missing_frame(buffer_.get()),
                     frame_interval(GST_BUFFER_DURATION(buffer_.get()), info ? info->fps_n : 0,
                                    info ? info->fps_d : 1)};
  if (held_) {
    stream_.next = stream_.frame;
    stream_.frame = held_->waiting;
    buffer_.reset(gst_buffer_ref(held_->buffer.get()));
  }
}

FrameTimes PeekedBuffer::times() const {
  return held_ ? held_->times : frame_times(current_segment(pad_), buffer_.get());
}

void PeekedBuffer::hold() {
  if (held_)
    return;
  held_ = HeldFrame{OwnedBuffer(gst_buffer_ref(buffer_.get())), *stream_.frame, times()};
  gst_aggregator_pad_drop_buffer(pad_);
}

void PeekedBuffer::consume() {
  if (held_)
    held_.reset();
  else
    gst_aggregator_pad_drop_buffer(pad_);
}

}  // namespace cudavision
