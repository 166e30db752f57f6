// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <utility>

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pads/stereocaps.h"
#include "gst/sgmstereo/pipeline/stereostream.h"

namespace cudavision {
namespace {

// `left` may be nullptr.
GstClockTime current_max_skew(StereoStream& stream, GstBuffer* left) {
  const gint64 property = stream.state.shared.lock()->settings.max_skew;
  const GstVideoInfo* info = stream.left.format ? &stream.left.format->info : nullptr;
  return max_skew_for(property,
                      frame_interval(left ? GST_BUFFER_DURATION(left) : GST_CLOCK_TIME_NONE,
                                     info ? info->fps_n : 0, info ? info->fps_d : 1));
}

std::string description(const WaitingFrame& frame) {
  if (!frame.time)
    return frame.gap ? "gap without a time" : "frame without a time";
  return take_gstring(g_strdup_printf("%s%" GST_STIME_FORMAT, frame.gap ? "gap " : "",
                                      GST_STIME_ARGS(*frame.time)));
}

std::string description(const FrameStream& stream) {
  if (!stream.frame)
    return stream.ended ? "ended" : "none";
  return description(*stream.frame);
}

const char* description(PairingStep step) {
  // In the order of PairingStep.
  constexpr const char* texts[] = {"wait for the other frame",
                                   "a pair",
                                   "a pair in which a frame is missing",
                                   "drop the left frame, which has no partner",
                                   "drop the right frame, which has no partner",
                                   "the next left frame may be nearer",
                                   "the next right frame may be nearer",
                                   "no further pair can form"};
  return texts[static_cast<std::size_t>(step)];
}

void count_drop(StereoStream& stream, StereoInput& input, const WaitingFrame& frame) {
  stream.outputs_discont = true;
  if (!frame.gap)
    ++stream.state.shared.lock()->sides[stream.state.side_of(input.pad())].dropped;
}

void drop(StereoStream& stream, StereoInput& input, PeekedBuffer& frame) {
  count_drop(stream, input, *frame.stream().frame);
  frame.consume();
}

void warn_of_camera(StereoStream& stream, const std::string& text) {
  if (!text.empty())
    post_warning(GST_ELEMENT_CAST(stream.self), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, text);
}

void drop_unpaired(StereoStream& stream, StereoInput& input, PeekedBuffer& frame,
                   const FrameStream& other, GstClockTime max_skew) {
  const WaitingFrame waiting = *frame.stream().frame;
  drop(stream, input, frame);
  if (waiting.gap || !waiting.time)
    return;
  StereoInput& other_input = stream.other_input(input);
  if (!other.frame && !other.ended && other_input.sink.is_linked())
    warn_of_camera(stream, other_input.timeout.missed(other_input.name(), *waiting.time));
  const auto side = &input == &stream.left ? PairingTimeout::left : PairingTimeout::right;
  const std::string text = stream.pairing_timeout.add(
      side, *waiting.time, other.frame ? other.frame->time : std::nullopt, max_skew);
  if (!text.empty())
    post_warning(GST_ELEMENT_CAST(stream.self), GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 text);
}

// Pushes all outputs and reports errors of the device, which must come before EOS.
void finish_stream(StereoStream& stream) {
  stereo_finish_pairs(stream);
  if (!stream.processor)
    return;
  const DeviceScope scope(stream.state.session);
  stream.processor->finish();
}

void end_output(StereoStream& stream) {
  finish_stream(stream);
  const SizeMismatch mismatch = stream.mismatch;
  stream.mismatch = {};
  if (!mismatch.error().empty()) {
    if (mismatch.from_the_start())
      refuse_stream(mismatch.error());
    post_warning(GST_ELEMENT_CAST(stream.self), GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                 mismatch.error());
  }
  stereo_push_eos(stream);
}

// Drops frames after one camera's end, or after EOS from downstream, so that upstream continues.
GstFlowReturn drain_unpaired(StereoStream& stream) {
  bool drained = false;
  for (StereoInput* input : {&stream.left, &stream.right}) {
    PeekedBuffer frame = input->peek();
    if (!frame.buffer())
      continue;
    if (stream.state.downstream_ended)
      frame.consume();
    else
      drop(stream, *input, frame);
    drained = true;
  }
  if (drained)
    return GST_FLOW_OK;
  const bool ended = stream.left.sink.is_ended() && stream.right.sink.is_ended();
  return ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
}

// Returns true, and posts a QoS message, if the output would be too late for downstream.
bool skip_late(StereoStream& stream, const FrameTimes& times) {
  GstMessage* message = nullptr;
  if (const auto shared = stream.state.shared.lock(); shared->qos.skips(times.running_time))
    message = shared->qos.message(GST_ELEMENT_CAST(stream.self), times);
  if (message)
    gst_element_post_message(GST_ELEMENT_CAST(stream.self), message);
  return message != nullptr;
}

GstFlowReturn drop_unequal(StereoStream& stream, PeekedBuffer& left, PeekedBuffer& right,
                           const std::string& error) {
  if (stream.mismatch.error() != error)
    GST_WARNING_OBJECT(stream.self, "dropping pairs: %s", error.c_str());
  const bool lasts = stream.mismatch.add(error, left.stream().frame->time);
  drop(stream, stream.left, left);
  drop(stream, stream.right, right);
  if (lasts)
    refuse_stream(error);
  return GST_FLOW_OK;
}

// Converts EOS from downstream to OK, because the element then drains its inputs.
GstFlowReturn answer_of(StereoStream& stream, GstFlowReturn flow) {
  if (flow != GST_FLOW_EOS)
    return flow;
  GST_DEBUG_OBJECT(stream.self, "downstream wants no more frames");
  stream.state.downstream_ended = true;
  return GST_FLOW_OK;
}

/// `right` is nullptr if frames are packed.
GstFlowReturn process_pair(StereoStream& stream, PeekedBuffer& left, PeekedBuffer* right) {
  if (right && stream.left.format && stream.right.format) {
    const std::string error = pair_error(*stream.left.format, *stream.right.format);
    if (!error.empty())
      return drop_unequal(stream, left, *right, error);
    stream.mismatch.end();
  }
  const bool negotiated =
      stream.left.format && (!right || stream.right.format) && stream.src.format;
  const FrameTimes times = left.times();
  gst_aggregator_selected_samples(stream.self, times.timestamp, GST_BUFFER_DTS(left.buffer()),
                                  times.duration, nullptr);
  const bool skipped = negotiated && skip_late(stream, times);
  left.consume();
  if (right)
    right->consume();
  if (!negotiated)
    return GST_FLOW_NOT_NEGOTIATED;
  if (skipped) {
    stream.outputs_discont = true;
    return GST_FLOW_OK;
  }
  stereo_update_latency(stream);  // max-skew may have changed
  if (GST_CLOCK_TIME_IS_VALID(times.stream_time))
    gst_object_sync_values(GST_OBJECT_CAST(stream.self), times.stream_time);
  return answer_of(stream, stereo_push_output(stream, left, right));
}

GstFlowReturn aggregate_packed(StereoStream& stream) {
  if (!stream.left.format)
    return GST_FLOW_NOT_NEGOTIATED;
  require_unlinked(GST_PAD_CAST(stream.right.pad()));
  PeekedBuffer frame = stream.left.peek();
  if (!frame.buffer())
    return frame.stream().ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  const WaitingFrame& waiting = *frame.stream().frame;
  GST_LOG_OBJECT(stream.self, "packed frame: %s", description(waiting).c_str());
  if (!waiting.gap)
    return process_pair(stream, frame, nullptr);
  stereo_push_gap(stream, frame.buffer());
  drop(stream, stream.left, frame);
  return GST_FLOW_OK;
}

GstFlowReturn take_step(StereoStream& stream, bool timed_out) {
  PeekedBuffer left = stream.left.peek(), right = stream.right.peek();
  for (auto [input, frame] : {std::pair{&stream.left, &left}, std::pair{&stream.right, &right}})
    if (frame->buffer())
      warn_of_camera(stream, input->timeout.sends(input->name()));
  const GstClockTime max_skew = current_max_skew(stream, left.buffer());
  const PairingStep step = next_step(left.stream(), right.stream(), max_skew, timed_out);
  GST_LOG_OBJECT(stream.self, "left %s, right %s: %s", description(left.stream()).c_str(),
                 description(right.stream()).c_str(), description(step));
  switch (step) {
    case PairingStep::pair:
      stream.pairing_timeout.end();
      return process_pair(stream, left, &right);
    case PairingStep::miss:
      stereo_push_gap(stream, left.buffer());
      drop(stream, stream.left, left);
      drop(stream, stream.right, right);
      return GST_FLOW_OK;
    case PairingStep::drop_left:
      if (left.stream().frame->gap)
        stereo_push_gap(stream, left.buffer());
      drop_unpaired(stream, stream.left, left, right.stream(), max_skew);
      return GST_FLOW_OK;
    case PairingStep::drop_right:
      drop_unpaired(stream, stream.right, right, left.stream(), max_skew);
      return GST_FLOW_OK;
    case PairingStep::look_left:
      left.hold();
      break;
    case PairingStep::look_right:
      right.hold();
      break;
    case PairingStep::end:
      // If packed frames follow, sink_right is at EOS only because the element put it there.
      if (!stream.state.arrived_packed)
        end_output(stream);
      return drain_unpaired(stream);
    case PairingStep::wait:
      break;
  }
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

// Returns true if GstAggregator will call stereo_aggregate() again at once. If not, no pair may
// stay in flight. Waits for the next frames while the device computes the oldest pair.
bool may_stay_in_flight(StereoStream& stream) {
  const auto are_here = [&] {
    return gst_aggregator_pad_has_buffer(stream.left.pad()) &&
           (stream.packing.packed() || gst_aggregator_pad_has_buffer(stream.right.pad()));
  };
  return stream.in_flight.empty()
             ? are_here()
             : stream.state.frames_arrival.wait(stream.in_flight.front().work, are_here);
}

// After an exception, pushes the pairs in flight, and rethrows the exception.
GstFlowReturn aggregate(StereoStream& stream, bool timed_out) {
  try {
    if (stream.packing.packed())
      return aggregate_packed(stream);
    const GstFlowReturn flow = take_step(stream, timed_out);
    // A held frame may have been consumed, and its stream may have ended.
    if (flow == GST_FLOW_OK)
      stereo_check_end(stream);
    return flow;
  } catch (...) {
    try {
      stereo_finish_pairs(stream);
    } catch (const std::exception& e) {
      GST_WARNING_OBJECT(stream.self, "after an error: %s", e.what());
    }
    throw;
  }
}

void discard_flushed(StereoInput& input) {
  if (input.sink.flushed.exchange(false))
    input.held.reset();
}

}  // namespace

void stereo_drop_held(StereoStream& stream, StereoInput& input) {
  discard_flushed(input);
  if (!input.held)
    return;
  GST_LOG_OBJECT(input.pad(), "drop the held frame, because the stream changes");
  count_drop(stream, input, input.held->waiting);
  input.held.reset();
}

void stereo_check_end(StereoStream& stream) {
  if (stream.eos_sent || stream.state.arrived_packed || stream.packing.packed())
    return;
  // A held frame may still have a partner.
  const bool left_ended = stream.left.sink.is_ended() && !stream.left.held;
  // An unlinked sink_right is at EOS only because the element put it there.
  const bool right_ended =
      stream.right.sink.is_linked() && stream.right.sink.is_ended() && !stream.right.held;
  if (left_ended || right_ended)
    end_output(stream);
}

// Ignores frame durations, because they vary by nanoseconds, and each change of the latency would
// make the pipeline redistribute it.
void stereo_update_latency(StereoStream& stream) {
  const bool packed = stream.packing.packed();
  const GstClockTime skew = packed ? 0 : current_max_skew(stream, nullptr);
  // Limited, so that the sum of the pipeline's latencies does not overflow.
  const GstClockTime latency = MIN(skew, longest_wait);
  gst_aggregator_set_latency(stream.self, latency, latency);
}

GstFlowReturn stereo_aggregate(StereoStream& stream, gboolean timeout) {
  return post_exceptions(stream.self, GST_FLOW_ERROR, [&] {
    discard_flushed(stream.left);
    discard_flushed(stream.right);
    if (stream.late_flow != GST_FLOW_OK)
      return answer_of(stream, std::exchange(stream.late_flow, GST_FLOW_OK));
    if (stream.eos_sent || stream.state.downstream_ended)
      return drain_unpaired(stream);
    const GstFlowReturn flow = aggregate(stream, timeout);
    if (flow == GST_FLOW_OK && may_stay_in_flight(stream))
      return flow;
    const GstFlowReturn answer = answer_of(stream, stereo_push_pairs(stream, 0));
    if (flow == GST_FLOW_EOS)
      finish_stream(stream);
    return answer == GST_FLOW_OK ? flow : answer;
  });
}

GstClockTime stereo_get_next_time(StereoStream& stream) {
  const PeekedBuffer left = stream.left.peek(), right = stream.right.peek();
  return pairing_deadline(left.stream(), right.stream(), current_max_skew(stream, left.buffer()));
}

GstSample* stereo_peek_next_sample(StereoStream& stream, GstAggregatorPad* pad) {
  const PeekedBuffer frame = stream.input(pad).peek();
  if (!frame.buffer())
    return nullptr;
  const GstSegment segment = current_segment(pad);
  const Caps caps(gst_pad_get_current_caps(GST_PAD_CAST(pad)));
  return gst_sample_new(frame.buffer(), caps.get(), &segment, nullptr);
}

}  // namespace cudavision
