// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "gst/base/devicemessages.h"
#include "gst/base/frameclock.h"
#include "gst/base/properties.h"
#include "gst/core/text.h"
#include "gst/sgmstereo/pads/stereostate.h"
#include "gst/sgmstereo/pairing/packedframes.h"
#include "gst/sgmstereo/pairing/pairingtimeout.h"
#include "gst/sgmstereo/pairing/peekedbuffer.h"
#include "gst/sgmstereo/pipeline/stereoprocessor.h"
#include "gst/sgmstereo/rectification/calibration.h"
#include "gst/sgmstereo/rig/camerarig.h"

namespace cudavision {

/// The queued frames of one sink pad.
struct StereoInput {
  explicit StereoInput(StereoSinkPad& sink_pad) : sink(sink_pad) {}

  GstAggregatorPad* pad() const { return sink.pad; }
  const char* name() const { return text_of(GST_PAD_NAME(sink.pad)); }
  PeekedBuffer peek() { return PeekedBuffer(sink.pad, held, format ? &format->info : nullptr); }

  StereoSinkPad& sink;
  Caps caps;  ///< caps of the queued frame and of the held frame
  std::optional<FrameFormat> format;
  std::optional<HeldFrame> held;
  InputTimeout timeout;
};

/// A source pad that gets an output of a pair.
struct OpenPad {
  SourcePad id;
  StereoOutput output;
  SourceBranch* branch;
  std::shared_ptr<StereoRequestPad> requested;  ///< nullptr for src
  OwnedBuffer buffer;                           ///< nullptr: push nothing
};
using OpenPads = std::vector<OpenPad>;  ///< src first, because the request pads copy its events

struct PairInFlight {
  OpenPads pads;
  PendingGpuWork work;
  std::unique_ptr<PairDetections> detections;  ///< nullptr if the property `detections` is off
};

/// Selects the pairs that are inspected: the first pair of each interval. If pairs have no running
/// time, selects every 30th pair.
class InspectionInterval {
 public:
  /// Returns false if interval is 0.
  bool selects(const FrameTimes& times, GstClockTime interval);

 private:
  static constexpr int untimed_pairs = 30;

  FrameInterval interval_;
  int untimed_ = untimed_pairs - 1;  ///< pairs without running time since the last selected pair
};

/// The part of a StereoStream that each start resets.
struct StreamRun {
  FramePacking packing;
  SourceBranch src{std::nullopt, false};
  bool outputs_discont = true;      ///< the next outputs of all pads are discontinuous
  std::optional<FrameClock> clock;  ///< has the framerate of the left caps
  /// Flow return of stereo_finish_pairs(), for the next stereo_aggregate().
  GstFlowReturn late_flow = GST_FLOW_OK;
  bool segment_sent = false;                    ///< downstream has the current segment
  guint32 segment_seqnum = GST_SEQNUM_INVALID;  ///< seqnum of the last SEGMENT on sink_left
  bool eos_sent = false;  ///< downstream has EOS, although GstAggregator still waits for a pad
  guint32 eos_seqnum = GST_SEQNUM_INVALID;  ///< seqnum of the last EOS on a sink pad
  bool renegotiate = false;  ///< negotiate once eos_sent is false; caps after EOS would be lost
  SizeMismatch mismatch;
  PairingTimeout pairing_timeout;
  InspectionInterval inspections;
  /// nullptr until the first inspection, unless calibration=auto.
  std::unique_ptr<CameraRig> rig;
  RectifiedOptics optics;
  bool checked_lengths = false;       ///< only with calibration=auto
  bool warned_of_detections = false;  ///< warned that a frame has too many detections
};

/// The part of a cudasgmstereo element for the aggregating thread. Functions of other threads have
/// no access to it, except start, stop and flush, during which GstAggregator stops this thread.
struct StereoStream : StreamRun {
  StereoStream(GstAggregator* aggregator, StereoState& state_of_all)
      : self(aggregator), state(state_of_all), left(state.left), right(state.right) {}

  StereoInput& input(const GstAggregatorPad* pad) { return state.is_left(pad) ? left : right; }
  StereoInput& other_input(const StereoInput& one) { return &one == &left ? right : left; }
  /// The first call creates the rig.
  CameraRig& camera_rig() {
    if (!rig) {
      rig = std::make_unique<CameraRig>();
      rig->begin_work(optics);
    }
    return *rig;
  }

  GstAggregator* const self;
  StereoState& state;
  StereoInput left, right;
  std::optional<StereoCalibration> calibration;  ///< read at the start
  std::unique_ptr<StereoProcessor> processor;    ///< for pairs of the current formats
  std::deque<PairInFlight> in_flight;            ///< oldest first
  SettingsGuard guard;
  bool temporal_restart = false;  ///< the next pair resets all temporal state
};

/* The functions of the aggregating thread, in the order of a pair's path. All except the virtual
 * functions of GstAggregator may throw. */

/// Drops the pairs in flight, and frees everything made for the current formats and CUDA context.
/// The request pads negotiate again before their next buffers.
void stereo_release_processor(StereoStream& stream);
/// Call this before a new stream, so that branches that have ended can get buffers again.
void stereo_reopen_branches(StereoStream& stream);
// Virtual functions of GstAggregator.
gboolean stereo_start(StereoStream& stream);
gboolean stereo_stop(StereoStream& stream);

// streamevents.cpp: handles serialized events after the frames queued before them, and negotiates
// the caps and buffer pools of src. CAPS events are handled twice: SinkPadState checks and stores
// the caps on arrival, so that the other pad's CAPS query can offer the same size. Here the caps
// take effect. Virtual functions of GstAggregator.
gboolean stereo_sink_event(StereoStream& stream, GstAggregatorPad* pad, GstEvent* event);
GstFlowReturn stereo_flush(StereoStream& stream);
gboolean stereo_serialized_sink_query(StereoStream& stream, GstAggregatorPad* pad, GstQuery* query);
gboolean stereo_negotiate(StereoStream& stream);
GstFlowReturn stereo_update_src_caps(StereoStream& stream, GstCaps* downstream, GstCaps** result);
gboolean stereo_negotiated_src_caps(StereoStream& stream, GstCaps* caps);
gboolean stereo_decide_allocation(StereoStream& stream, GstQuery* query);

// stereoaggregate.cpp: pairs, drops and skips the queued frames.
/// Reports the latency, which is the longest time that a frame waits for its partner. Call this if
/// max-skew or the left caps may have changed.
void stereo_update_latency(StereoStream& stream);
void stereo_drop_held(StereoStream& stream, StereoInput& input);
/// Sends EOS downstream if a camera has ended, because no further pair can form. Throws
/// ElementError if no pair has formed because the pictures differ.
void stereo_check_end(StereoStream& stream);
// Virtual functions of GstAggregator.
GstFlowReturn stereo_aggregate(StereoStream& stream, gboolean timeout);
GstClockTime stereo_get_next_time(StereoStream& stream);
GstSample* stereo_peek_next_sample(StereoStream& stream, GstAggregatorPad* pad);

/// Starts the work on a pair, and pushes the oldest pairs if too many are in flight. Returns an
/// error or the result of stereo_push_pairs(). `right` is nullptr if frames are packed.
GstFlowReturn stereo_push_output(StereoStream& stream, PeekedBuffer& left, PeekedBuffer* right);

// rectifiedstream.cpp: chooses the maps.
/// Returns the rectification for a new StereoProcessor, if there is one.
std::optional<Rectification> stereo_rectification(StereoStream& stream);
/// Applies a new self-calibration. This releases the processor, because the maps of both pictures
/// change. No pair may be in flight.
GstFlowReturn stereo_apply_calibration(StereoStream& stream);
/// Applies a new map of the right camera. No pair may be in flight.
void stereo_apply_correction(StereoStream& stream);
/// The first call in which `lengths` is true warns if calibration=auto cannot yield metric lengths.
void stereo_check_lengths(StereoStream& stream, const StereoSettings& settings, bool lengths);

// inspection.cpp: posts the estimates and warnings of the camera rig.
/// Inspects StereoProcessor::snapshot(). docs/elements/cudasgmstereo.md lists the message's fields.
void stereo_inspect_pair(StereoStream& stream, const FrameTimes& times);
/// Call this at the end of a stream. If only one pair was inspected, posts its warnings, although
/// no other pair has confirmed them.
void stereo_end_inspections(StereoStream& stream);

// stereopush.cpp: pushes buffers and events downstream.
/// Completes and pushes the oldest pairs on all linked source pads, until only `remaining` pairs
/// are in flight. Returns the error of any pad, GST_FLOW_EOS if all linked pads have ended, or
/// GST_FLOW_NOT_LINKED if no pad is linked. In these cases, drops the remaining pairs.
GstFlowReturn stereo_push_pairs(StereoStream& stream, std::size_t remaining);
/// Pushes all pairs in flight. Stores the flow return for the next stereo_aggregate().
void stereo_finish_pairs(StereoStream& stream);
/// Pushes a GAP event for the time of a left frame.
void stereo_push_gap(StereoStream& stream, GstBuffer* left);
/// Sends EOS because no further pair can form, while GstAggregator still waits for the other pad.
/// The later EOS of GstAggregator has no effect.
void stereo_push_eos(StereoStream& stream);
/// Starts a new stream after stereo_push_eos().
void stereo_restart_output(StereoStream& stream);
/// Applies the current segment of sink_left to the next outputs.
void stereo_apply_segment(StereoStream& stream);

// branches.cpp: the request pads. Before each buffer and gap, a pad gets the missing sticky events:
// its own STREAM_START and CAPS, and SEGMENT and TAG of src.
/// Returns the request pads that can take a buffer: linked, and without EOS from downstream.
RequestPads open_request_pads(StereoStream& stream);
/// Negotiates caps and a buffer pool. No pair may be in flight. Returns GST_FLOW_NOT_LINKED or
/// GST_FLOW_EOS if only this pad can get no buffer, for example after its release.
GstFlowReturn stereo_negotiate_request_pad(StereoStream& stream, StereoRequestPad& pad);
/// Pushes a buffer and the sticky events before it. Drops the buffer if an event cannot be sent, or
/// if a new peer refuses the caps. Returns GST_FLOW_NOT_LINKED for a pad that was just released.
GstFlowReturn stereo_push_on_request_pad(StereoStream& stream, StereoRequestPad& pad,
                                         OwnedBuffer buffer);
/// Pushes a GAP event on the request pads that have caps.
void stereo_push_gap_on_request_pads(StereoStream& stream, GstEvent* gap);

/* Callbacks in other threads. */

/// A probe on src that repeats EOS and flushes on the request pads.
GstPadProbeReturn stereo_follow_src(GstPad* src, GstPadProbeInfo* info, gpointer self);
// Callbacks of PadAlarm.
gboolean warn_of_waiting(GstClock*, GstClockTime, GstClockID, gpointer pad);
gboolean refuse_end(GstClock*, GstClockTime, GstClockID, gpointer pad);

}  // namespace cudavision
