// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/headframe.h"

namespace cudavision {
namespace {

// A buffer without a byte that is marked as a gap stands for a missing frame.
bool is_missing_frame(GstBuffer* buffer) {
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size(buffer) == 0;
}

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

GstSegment segment_of(GstAggregatorPad* pad) {
  GST_OBJECT_LOCK(pad);
  const GstSegment segment = pad->segment;
  GST_OBJECT_UNLOCK(pad);
  return segment;
}

HeadFrame::HeadFrame(GstAggregatorPad* pad)
    : pad_(pad), buffer_(gst_aggregator_pad_peek_buffer(pad)) {
  stream_.ended = gst_aggregator_pad_is_eos(pad);
  if (buffer_)
    stream_.frame = {signed_running_time(segment_of(pad), buffer_), is_missing_frame(buffer_)};
}

FrameTimes HeadFrame::times() const {
  return frame_times(segment_of(pad_), buffer_);
}

void HeadFrame::consume() {
  gst_aggregator_pad_drop_buffer(pad_);
}

GstAggregatorPad* add_sink_pad(GstElement* element, const char* name) {
  GstPadTemplate* pad_template =
      gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(element), name);
  auto* pad = static_cast<GstPad*>(g_object_new(GST_TYPE_AGGREGATOR_PAD, "name", name, "direction",
                                                GST_PAD_SINK, "template", pad_template, nullptr));
  gst_element_add_pad(element, pad);
  return GST_AGGREGATOR_PAD_CAST(pad);
}

}  // namespace cudavision
