// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereoaggregate.h"

#include <string>
#include <utility>

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/outputs/stereooutput.h"
#include "gst/sgmstereo/outputs/stereopush.h"
#include "gst/sgmstereo/pairing/framepairing.h"
#include "gst/sgmstereo/pairing/headframe.h"
#include "gst/sgmstereo/stereocaps.h"

namespace cudavision {
namespace {

// Returns the max-skew in force. left is the frame whose duration counts, or nullptr if there is
// none.
GstClockTime current_max_skew(GstAggregator* self, GstBuffer* left) {
  const StereoState& state = stereo_state(self);
  const gint64 property = current_settings(self, state.settings).max_skew;
  const GstVideoInfo* info = state.left.format ? &state.left.format->info : nullptr;
  return max_skew_for(property,
                      frame_interval(left ? GST_BUFFER_DURATION(left) : GST_CLOCK_TIME_NONE,
                                     info ? info->fps_n : 0, info ? info->fps_d : 1));
}

/* The debug log has one line for each decision, with the running times that it was made by. */

bool logs_decisions() {
  return gst_debug_category_get_threshold(GST_CAT_DEFAULT) >= GST_LEVEL_LOG;
}

std::string description(const WaitingFrame& frame) {
  if (!frame.time)
    return frame.gap ? "gap without a time" : "frame without a time";
  gchar* time =
      g_strdup_printf("%s%" GST_STIME_FORMAT, frame.gap ? "gap " : "", GST_STIME_ARGS(*frame.time));
  std::string text = time;
  g_free(time);
  return text;
}

std::string description(const FrameStream& stream) {
  if (!stream.frame)
    return stream.ended ? "ended" : "none";
  return description(*stream.frame);
}

const char* description(PairingStep step) {
  switch (step) {
    case PairingStep::wait:
      return "wait for the other frame";
    case PairingStep::pair:
      return "a pair";
    case PairingStep::miss:
      return "a pair in which a frame is missing";
    case PairingStep::drop_left:
      return "drop the left frame, which has no partner";
    case PairingStep::drop_right:
      return "drop the right frame, which has no partner";
    case PairingStep::look_left:
      return "the next left frame may be nearer";
    case PairingStep::look_right:
      return "the next right frame may be nearer";
    case PairingStep::end:
      return "no further pair can form";
  }
  return "";
}

void count_drop(GstAggregator* self, StereoInput& input, const WaitingFrame& frame) {
  stereo_state(self).discont = true;
  if (frame.gap)
    return;
  const ObjectLock lock(self);
  ++input.dropped;
}

void drop(GstAggregator* self, StereoInput& input, HeadFrame& frame) {
  count_drop(self, input, *frame.stream().frame);
  frame.consume();
}

void warn_of_camera(GstAggregator* self, const std::string& text) {
  if (!text.empty())
    post_warning(GST_ELEMENT_CAST(self), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, text);
}

// Drops a frame because no frame of the other pad is near enough to it.
void drop_unpaired(GstAggregator* self, StereoInput& input, HeadFrame& frame,
                   const FrameStream& other, GstClockTime max_skew) {
  StereoState& state = stereo_state(self);
  const WaitingFrame waiting = *frame.stream().frame;
  drop(self, input, frame);
  if (waiting.gap || !waiting.time)
    return;
  StereoInput& other_input = state.other_input(input.pad);
  if (!other.frame && !other.ended && other_input.is_linked())
    warn_of_camera(self, other_input.silent.missed(GST_PAD_NAME(other_input.pad), *waiting.time));
  const auto side = &input == &state.left ? UnpairedFrames::left : UnpairedFrames::right;
  const std::string text = state.unpaired.add(
      side, *waiting.time, other.frame ? other.frame->time : std::nullopt, max_skew);
  if (!text.empty())
    post_warning(GST_ELEMENT_CAST(self), GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text);
}

// Lets all outputs, and errors of the device, come before EOS.
void finish_stream(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  stereo_finish_pairs(self);
  if (!state.work)
    return;
  const DeviceScope scope(state.session);
  state.work->finish();
}

// Sends EOS downstream because no further pair can form. Throws ElementError if none has formed
// because the pictures differ.
void end_output(GstAggregator* self) {
  finish_stream(self);
  StereoState& state = stereo_state(self);
  const UnequalPairs unequal = state.unequal;
  state.unequal.reset();
  if (!unequal.error().empty()) {
    if (unequal.from_the_start())
      refuse_stream(unequal.error());
    post_warning(GST_ELEMENT_CAST(self), GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                 unequal.error());
  }
  stereo_push_eos(self);
}

// Takes all frames after the end of one camera or after EOS from downstream, because upstream would
// block otherwise, and with it what else it feeds. Counts frames that lack a partner.
GstFlowReturn swallow(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  bool swallowed = false;
  for (StereoInput* input : {&state.left, &state.right}) {
    HeadFrame frame = input->head();
    if (!frame.buffer())
      continue;
    if (state.downstream_ended)
      frame.consume();
    else
      drop(self, *input, frame);
    swallowed = true;
  }
  if (swallowed)
    return GST_FLOW_OK;
  const bool ended = state.left.is_ended() && state.right.is_ended();
  return ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
}

// Returns true if the output would be too late for downstream. Counts the frame, and posts a QoS
// message if it is late.
bool skip_late(GstAggregator* self, const FrameTimes& times) {
  QosState& qos = stereo_state(self).qos;
  GstMessage* message = nullptr;
  {
    const ObjectLock lock(self);
    if (qos.skips(times.running_time))
      message = qos.message(GST_ELEMENT_CAST(self), times);
  }
  if (message)
    gst_element_post_message(GST_ELEMENT_CAST(self), message);
  return message != nullptr;
}

// Drops a pair whose pictures differ in size or depth. Throws ElementError if that goes on for
// long.
GstFlowReturn drop_unequal(GstAggregator* self, HeadFrame& left, HeadFrame& right,
                           const std::string& error) {
  StereoState& state = stereo_state(self);
  if (state.unequal.error() != error)
    GST_WARNING_OBJECT(self, "dropping pairs: %s", error.c_str());
  const bool lasts = state.unequal.add(error, left.stream().frame->time);
  drop(self, state.left, left);
  drop(self, state.right, right);
  if (lasts)
    refuse_stream(error);
  return GST_FLOW_OK;
}

// Returns what stereo_aggregate() answers when downstream answers its outputs with flow.
GstFlowReturn answer_of(GstAggregator* self, GstFlowReturn flow) {
  if (flow != GST_FLOW_EOS)
    return flow;
  GST_DEBUG_OBJECT(self, "downstream wants no more frames");
  stereo_state(self).downstream_ended = true;
  return GST_FLOW_OK;
}

/// right is nullptr if frames are packed.
GstFlowReturn process_pair(GstAggregator* self, HeadFrame& left, HeadFrame* right) {
  StereoState& state = stereo_state(self);
  if (right && state.left.format && state.right.format) {
    const std::string error = pair_error(*state.left.format, *state.right.format);
    if (!error.empty())
      return drop_unequal(self, left, *right, error);
    state.unequal.end();
  }
  const bool negotiated = state.left.format && (!right || state.right.format) && state.out;
  const FrameTimes times = left.times();
  gst_aggregator_selected_samples(self, times.timestamp, GST_BUFFER_DTS(left.buffer()),
                                  times.duration, nullptr);
  const bool skipped = negotiated && skip_late(self, times);
  left.consume();
  if (right)
    right->consume();
  if (!negotiated)
    return GST_FLOW_NOT_NEGOTIATED;
  if (skipped) {
    state.discont = true;
    return GST_FLOW_OK;
  }
  stereo_update_latency(self);  // max-skew may have changed
  if (GST_CLOCK_TIME_IS_VALID(times.stream_time))
    gst_object_sync_values(GST_OBJECT_CAST(self), times.stream_time);
  return answer_of(self, stereo_push_output(self, left, right));
}

GstFlowReturn aggregate_packed(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  // An error has said why if the caps have no format.
  if (!state.left.format)
    return GST_FLOW_NOT_NEGOTIATED;
  require_unlinked(GST_PAD_CAST(state.right.pad));
  HeadFrame frame = state.left.head();
  if (!frame.buffer())
    return frame.stream().ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  const WaitingFrame& waiting = *frame.stream().frame;
  if (logs_decisions())
    GST_LOG_OBJECT(self, "both in one: %s", description(waiting).c_str());
  if (!waiting.gap)
    return process_pair(self, frame, nullptr);
  stereo_push_gap(self, frame.buffer());
  drop(self, state.left, frame);
  return GST_FLOW_OK;
}

// Holds the frame so that the next one can arrive.
GstFlowReturn look_behind(HeadFrame& frame) {
  if (!frame.is_held())
    frame.hold();
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

GstFlowReturn take_step(GstAggregator* self, bool timed_out) {
  StereoState& state = stereo_state(self);
  HeadFrame left = state.left.head(), right = state.right.head();
  for (auto [input, frame] : {std::pair{&state.left, &left}, std::pair{&state.right, &right}})
    if (frame->buffer())
      warn_of_camera(self, input->silent.sends(GST_PAD_NAME(input->pad)));
  const GstClockTime max_skew = current_max_skew(self, left.buffer());
  const PairingStep step = next_step(left.stream(), right.stream(), max_skew, timed_out);
  if (logs_decisions())
    GST_LOG_OBJECT(self, "left %s, right %s: %s", description(left.stream()).c_str(),
                   description(right.stream()).c_str(), description(step));
  switch (step) {
    case PairingStep::pair:
      state.unpaired.end();
      return process_pair(self, left, &right);
    case PairingStep::miss:
      stereo_push_gap(self, left.buffer());
      drop(self, state.left, left);
      drop(self, state.right, right);
      return GST_FLOW_OK;
    case PairingStep::drop_left:
      if (left.stream().frame->gap)
        stereo_push_gap(self, left.buffer());
      drop_unpaired(self, state.left, left, right.stream(), max_skew);
      return GST_FLOW_OK;
    case PairingStep::drop_right:
      drop_unpaired(self, state.right, right, left.stream(), max_skew);
      return GST_FLOW_OK;
    case PairingStep::look_left:
      return look_behind(left);
    case PairingStep::look_right:
      return look_behind(right);
    case PairingStep::end:
      // If packed frames follow, the end of sink_right is the element's own doing.
      if (!state.arrived_packed)
        end_output(self);
      return swallow(self);
    case PairingStep::wait:
      break;
  }
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

GstFlowReturn aggregate_pair(GstAggregator* self, bool timed_out) {
  const GstFlowReturn flow = take_step(self, timed_out);
  // The frame may have been held, and the last one of its stream.
  if (flow == GST_FLOW_OK)
    stereo_check_end(self);
  return flow;
}

bool next_frames_are_here(const StereoState& state) {
  return gst_aggregator_pad_has_buffer(state.left.pad) &&
         (state.packing.packed() || gst_aggregator_pad_has_buffer(state.right.pad));
}

// Pairs only stay in flight if GstAggregator is going to call stereo_aggregate() again at once, so
// that none waits for frames that do not come. Upstream needs a moment to bring the next frames,
// and has the time in which the device is at the oldest pair anyway.
bool may_stay_in_flight(GstAggregator* self) {
  return stereo_wait_for_frames(self, [&] { return next_frames_are_here(stereo_state(self)); });
}

// If that fails, the pairs in flight go downstream before the error is posted.
GstFlowReturn aggregate(GstAggregator* self, bool timed_out) {
  try {
    return stereo_state(self).packing.packed() ? aggregate_packed(self)
                                               : aggregate_pair(self, timed_out);
  } catch (...) {
    try {
      stereo_push_pairs(self, 0);
    } catch (const std::exception& e) {
      GST_WARNING_OBJECT(self, "after an error: %s", e.what());
    }
    throw;
  }
}

// Discards a held frame if the pad was flushed, as GstAggregator discards those in the queue.
void discard_flushed(StereoInput& input) {
  if (input.flushed.exchange(false))
    input.held.reset();
}

}  // namespace

void stereo_drop_held(GstAggregator* self, StereoInput& input) {
  discard_flushed(input);
  if (!input.held)
    return;
  GST_LOG_OBJECT(input.pad, "drop the held frame, behind which the stream changes");
  count_drop(self, input, input.held->waiting);
  input.held.reset();
}

void stereo_check_end(GstAggregator* self) {
  const StereoState& state = stereo_state(self);
  if (state.eos_sent || state.arrived_packed || state.packing.packed())
    return;
  // A held frame may still find its partner, which is there already.
  const bool left_ended = state.left.is_ended() && !state.left.held;
  // While nothing is linked to sink_right, its end is the element's own doing.
  const bool right_ended = state.right.is_linked() && state.right.is_ended() && !state.right.held;
  if (left_ended || right_ended)
    end_output(self);
}

// The latency follows from the framerate. If it followed from the durations of frames, these would
// make the pipeline redistribute its latency again and again when they vary by a nanosecond.
void stereo_update_latency(GstAggregator* self) {
  const bool packed = stereo_state(self).packing.packed();
  const GstClockTime skew = packed ? 0 : current_max_skew(self, nullptr);
  // A larger one could overflow when the pipeline adds up latencies.
  const GstClockTime latency = MIN(skew, longest_wait);
  gst_aggregator_set_latency(self, latency, latency);
}

GstFlowReturn stereo_aggregate(GstAggregator* self, gboolean timeout) {
  return post_exceptions(self, GST_FLOW_ERROR, [&] {
    StereoState& state = stereo_state(self);
    discard_flushed(state.left);
    discard_flushed(state.right);
    if (state.late_flow != GST_FLOW_OK)
      return answer_of(self, std::exchange(state.late_flow, GST_FLOW_OK));
    if (state.eos_sent || state.downstream_ended)
      return swallow(self);
    const GstFlowReturn flow = aggregate(self, timeout);
    if (flow == GST_FLOW_OK && may_stay_in_flight(self))
      return flow;
    const GstFlowReturn answer = answer_of(self, stereo_push_pairs(self, 0));
    if (flow == GST_FLOW_EOS)
      finish_stream(self);
    return answer == GST_FLOW_OK ? flow : answer;
  });
}

GstClockTime stereo_get_next_time(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  const HeadFrame left = state.left.head(), right = state.right.head();
  return pairing_deadline(left.stream(), right.stream(), current_max_skew(self, left.buffer()));
}

GstSample* stereo_peek_next_sample(GstAggregator* self, GstAggregatorPad* pad) {
  const HeadFrame frame = stereo_state(self).input(pad).head();
  if (!frame.buffer())
    return nullptr;
  const GstSegment segment = current_segment(pad);
  const Caps caps(gst_pad_get_current_caps(GST_PAD_CAST(pad)));
  return gst_sample_new(frame.buffer(), caps.get(), &segment, nullptr);
}

}  // namespace cudavision
