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

/// The frames of one sink pad, whose turn has come.
struct StereoInput {
  explicit StereoInput(StereoSinkPad& sink_pad) : sink(sink_pad) {}

  GstAggregatorPad* pad() const { return sink.pad; }
  const char* name() const { return text_of(GST_PAD_NAME(sink.pad)); }
  PeekedBuffer peek() { return PeekedBuffer(sink.pad, held, format ? &format->info : nullptr); }

  StereoSinkPad& sink;
  Caps caps;  ///< of the frame at the head of the queue
  std::optional<FrameFormat> format;
  std::optional<HeldFrame> held;  ///< has the caps above
  InputTimeout timeout;
};

/// A source pad that gets the output of a pair.
struct OpenPad {
  SourcePad id;
  StereoOutput output;
  SourceBranch* branch;
  std::shared_ptr<StereoRequestPad> requested;  ///< nullptr for src
  OwnedBuffer buffer;                           ///< none if it is to be dropped
};
using OpenPads = std::vector<OpenPad>;  ///< src first, as the request pads follow its events

/// A pair in flight: the pads on which the buffers are pushed when the work is complete.
struct PairInFlight {
  OpenPads pads;
  PendingGpuWork work;
  std::unique_ptr<PairDetections> detections;  ///< nullptr if they are not asked for
};

/// Selects the pairs that are inspected: the first one, then the first one of each further
/// interval; of pairs without running times, every 30th.
class InspectionInterval {
 public:
  /// None if interval is 0.
  bool selects(const FrameTimes& times, GstClockTime interval);

 private:
  static constexpr int untimed_pairs = 30;

  FrameInterval interval_;
  int untimed_ = untimed_pairs - 1;  ///< since the last selected pair
};

/// The part of a StereoStream that begins anew with each start.
struct StreamRun {
  FramePacking packing;
  SourceBranch src{std::nullopt, false};
  bool outputs_discont = true;  ///< the next outputs, of all pads, do not continue the last ones
  std::optional<FrameClock> clock;  ///< of the pairs; has the framerate of the left caps
  /// The answer of downstream to pairs that were pushed before an event, for the next aggregate().
  GstFlowReturn late_flow = GST_FLOW_OK;
  bool segment_sent = false;                    ///< downstream has the current segment
  guint32 segment_seqnum = GST_SEQNUM_INVALID;  ///< of the last SEGMENT on sink_left
  /// Downstream has EOS already, while GstAggregator still waits for the other pad. Src caps that
  /// are negotiated now would be lost.
  bool eos_sent = false;
  guint32 eos_seqnum = GST_SEQNUM_INVALID;  ///< of the last EOS on a sink pad
  bool renegotiate = false;                 ///< as soon as eos_sent is false again
  SizeMismatch mismatch;
  PairingTimeout pairing_timeout;
  InspectionInterval inspections;
  /// Pairs are matched without one until the first is inspected, unless calibration=auto.
  std::unique_ptr<CameraRig> rig;
  RectifiedOptics optics;                  ///< of the pictures that are matched
  bool warned_of_unknown_lengths = false;  ///< with calibration=auto
  bool warned_of_detections = false;       ///< of more than can be measured
};

/// The part of a cudasgmstereo element that belongs to the aggregating thread, in which
/// GstAggregator calls most virtual functions: they get it as their argument, and whoever has none
/// cannot reach it. GstAggregator starts, stops and flushes the element while that thread stands
/// still.
struct StereoStream : StreamRun {
  StereoStream(GstAggregator* aggregator, StereoState& state_of_all)
      : self(aggregator), state(state_of_all), left(state.left), right(state.right) {}
  StereoStream(const StereoStream&) = delete;
  StereoStream& operator=(const StereoStream&) = delete;

  StereoInput& input(const GstAggregatorPad* pad) { return state.is_left(pad) ? left : right; }
  StereoInput& other_input(const StereoInput& one) { return &one == &left ? right : left; }
  /// Returns the rig, which is made by the first call.
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
  std::unique_ptr<StereoProcessor> processor;    ///< made for the first pair of these formats
  std::deque<PairInFlight> in_flight;            ///< oldest first
  SettingsGuard guard;
  bool temporal_restart = false;  ///< the next pair does not continue those before, over time
};

/* The functions of the aggregating thread, in the order of a pair's path. All but the virtual
 * functions of GstAggregator may throw. */

/// Frees everything that was made for the current formats and the current CUDA context. The request
/// pads negotiate anew before their next buffers. Pairs that are still in flight are dropped.
void stereo_release_processor(StereoStream& stream);
/// Forgets which branches have answered with EOS, because another stream follows.
void stereo_reopen_branches(StereoStream& stream);
// Virtual functions of GstAggregator.
gboolean stereo_start(StereoStream& stream);
gboolean stereo_stop(StereoStream& stream);

// streamevents.cpp: events whose turn has come, after the frames that were queued before them, and
// the caps and buffer pools of src. Caps reach a sink pad twice. The CAPS event arrives in the
// pad's streaming thread, is checked and stored, so that the other pad's CAPS query can offer the
// same size, and joins the queue after older frames. Only when its turn comes do the caps apply.
// Virtual functions of GstAggregator.
gboolean stereo_sink_event(StereoStream& stream, GstAggregatorPad* pad, GstEvent* event);
GstFlowReturn stereo_flush(StereoStream& stream);
gboolean stereo_serialized_sink_query(StereoStream& stream, GstAggregatorPad* pad, GstQuery* query);
gboolean stereo_negotiate(StereoStream& stream);
GstFlowReturn stereo_update_src_caps(StereoStream& stream, GstCaps* downstream, GstCaps** result);
gboolean stereo_negotiated_src_caps(StereoStream& stream, GstCaps* caps);
gboolean stereo_decide_allocation(StereoStream& stream, GstQuery* query);

// stereoaggregate.cpp: pairs the frames in the queues of the sink pads, drops those without a
// partner, skips those that are late, and takes those that arrive after the end of the other
// camera.
/// Reports, as latency, how long a frame may wait for its partner. Call this when that may have
/// changed.
void stereo_update_latency(StereoStream& stream);
/// Drops the held frame of the pad, if there is one.
void stereo_drop_held(StereoStream& stream, StereoInput& input);
/// Sends EOS downstream if a camera has ended, because no further pair can form then. Throws
/// ElementError if none has formed because the pictures differ.
void stereo_check_end(StereoStream& stream);
// Virtual functions of GstAggregator. Each call of aggregate takes at least one frame out of the
// queues, or returns GST_AGGREGATOR_FLOW_NEED_DATA or GST_FLOW_EOS.
GstFlowReturn stereo_aggregate(StereoStream& stream, gboolean timeout);
GstClockTime stereo_get_next_time(StereoStream& stream);
GstSample* stereo_peek_next_sample(StereoStream& stream, GstAggregatorPad* pad);

/// Computes the outputs for a pair whose formats and src caps are known. If no more pairs may be in
/// flight, pushes the oldest, see stereo_push_pairs(). right is nullptr if frames are packed.
GstFlowReturn stereo_push_output(StereoStream& stream, PeekedBuffer& left, PeekedBuffer* right);

// rectifiedstream.cpp: what the frames of a stream are rectified by, and when that changes.
/// Returns the rectification of the frames, if there is one. Work is made anew with it.
std::optional<Rectification> stereo_rectification(StereoStream& stream);
/// Lets a calibration that the element has found itself take effect, for which all is released,
/// because the maps of both pictures change. No pair may be in flight.
GstFlowReturn stereo_apply_calibration(StereoStream& stream);
/// Lets the map of a right camera that has turned take effect. No pair may be in flight, because
/// the device works with the old map.
void stereo_apply_correction(StereoStream& stream);
/// Warns once that the lengths of a calibration by sight are no measures. lengths is true if they
/// are put out.
void stereo_warn_of_unknown_lengths(StereoStream& stream, const StereoSettings& settings,
                                    bool lengths);

// inspection.cpp: gives a pair to the camera rig now and then, and posts what that finds.
/// Inspects a pair that is complete, and posts the result. docs/elements/cudasgmstereo.md lists the
/// fields of the element message.
void stereo_inspect_pair(StereoStream& stream, const FrameTimes& times);
/// Call this at the end of a stream. If it had a single inspected pair, posts the warnings that no
/// other pair can confirm any more.
void stereo_end_inspections(StereoStream& stream);

// stereopush.cpp: everything that is sent downstream.
/// Pushes the oldest pairs in flight, as soon as each is complete, on all source pads that
/// something is linked to, until only `left` of them are in flight. Returns an error of any of the
/// pads, GST_FLOW_EOS if all branches have ended, and GST_FLOW_NOT_LINKED if nothing is linked to
/// any pad. Unless it returns GST_FLOW_OK, the pairs that are left have been dropped.
GstFlowReturn stereo_push_pairs(StereoStream& stream, std::size_t left);
/// Pushes all pairs in flight, because something follows that must come after them. What
/// stereo_push_pairs() returns is for the next call of stereo_aggregate().
void stereo_finish_pairs(StereoStream& stream);
/// Tells downstream that there is no output for the time of a left frame.
void stereo_push_gap(StereoStream& stream, GstBuffer* left);
/// Ends the stream because no further pair can form. GstAggregator would wait for EOS on the other
/// pad, where frames may still arrive. When EOS arrives there, GstAggregator sends EOS again, which
/// has no effect.
void stereo_push_eos(StereoStream& stream);
/// Begins a new stream after the EOS that stereo_push_eos() has sent.
void stereo_restart_output(StereoStream& stream);
/// Makes the current segment of sink_left that of the next output.
void stereo_apply_segment(StereoStream& stream);

// branches.cpp: what flows on the request pads, after src. Before each buffer and gap, a pad gets
// those of src's sticky events that it lacks: STREAM_START with an id of the pad's own, CAPS of the
// pad's own, SEGMENT and TAG. A pad that is not linked, or whose branch has ended, gets no buffers
// and causes no work.
/// Returns the request pads that can take a buffer now.
RequestPads open_request_pads(StereoStream& stream);
/// Returns true if the pad must negotiate with its peer before its next buffer.
bool stereo_must_negotiate(StereoStream& stream, StereoRequestPad& pad);
/// No pair may be in flight. Returns GST_FLOW_NOT_LINKED or GST_FLOW_EOS if this pad alone can get
/// no buffer, because it has just been released, for example.
GstFlowReturn stereo_negotiate_request_pad(StereoStream& stream, StereoRequestPad& pad);
/// Pushes a buffer, after the events that must precede it, or drops it if these cannot be sent, or
/// if a new peer does not take its caps. A pad that has just been released answers
/// GST_FLOW_NOT_LINKED.
GstFlowReturn stereo_push_on_request_pad(StereoStream& stream, StereoRequestPad& pad,
                                         OwnedBuffer buffer);
/// Pushes a GAP event on the request pads that have caps.
void stereo_push_gap_on_request_pads(StereoStream& stream, GstEvent* gap);

/* Callbacks in other threads. */

/// A probe on src, which repeats EOS and flushes on the request pads, in whatever thread they are
/// sent.
GstPadProbeReturn stereo_follow_src(GstPad* src, GstPadProbeInfo* info, gpointer self);
// What users are told when a PadAlarm goes off; pad is its pad.
gboolean warn_of_waiting(GstClock*, GstClockTime, GstClockID, gpointer pad);
gboolean refuse_end(GstClock*, GstClockTime, GstClockID, gpointer pad);

}  // namespace cudavision
