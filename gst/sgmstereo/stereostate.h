// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstaggregator.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "gst/base/devicesession.h"
#include "gst/base/properties.h"
#include "gst/base/qosstate.h"
#include "gst/core/scoped.h"
#include "gst/core/videoformat.h"
#include "gst/flight/completionwait.h"
#include "gst/flight/frameinflight.h"
#include "gst/sgmstereo/calibration/calibration.h"
#include "gst/sgmstereo/diagnostics/stereodiagnostics.h"
#include "gst/sgmstereo/pairing/capsarrival.h"
#include "gst/sgmstereo/pairing/headframe.h"
#include "gst/sgmstereo/pairing/packedframes.h"
#include "gst/sgmstereo/pairing/silentcamera.h"
#include "gst/sgmstereo/pairing/unequalpairs.h"
#include "gst/sgmstereo/pairing/unlinkedpad.h"
#include "gst/sgmstereo/pairing/unpairedframes.h"
#include "gst/sgmstereo/stereosettings.h"
#include "gst/sgmstereo/stereowork.h"

GST_DEBUG_CATEGORY_EXTERN(cuda_sgm_stereo_debug);
#define GST_CAT_DEFAULT cuda_sgm_stereo_debug

namespace cudavision {

/// One of the element's sink pads, and the state that belongs to it.
struct StereoInput {
  GstAggregatorPad* pad = nullptr;

  // Guarded by the object lock, under which caps must not be freed: see StereoState.
  Caps arrived_caps;    ///< of the last CAPS event; older frames may still be in the queue
  guint64 dropped = 0;  ///< frames without a partner, or an equal one, since the start

  // All threads may use this.
  std::atomic<bool> flushed{false};  ///< the held frame is to be discarded

  // Only the streaming thread of the pad uses this.
  std::string last_refusal;  ///< why caps were last refused, or empty

  // Only the aggregating thread uses these.
  Caps caps;  ///< of the frame at the head of the queue
  std::optional<FrameFormat> format;
  std::optional<HeldFrame> held;  ///< has the caps above
  SilentCamera silent;

  bool is_linked() const { return gst_pad_is_linked(GST_PAD_CAST(pad)); }
  bool is_ended() const { return gst_aggregator_pad_is_eos(pad); }
  HeadFrame head() { return HeadFrame(pad, held, format ? &format->info : nullptr); }
};

/// A source pad on request, and the state that belongs to it. requestpads.h describes these pads.
struct StereoRequestPad {
  /// Sinks the floating reference of a new pad.
  StereoRequestPad(GstPad* new_pad, SourcePad source_pad, StereoOutput what)
      : pad(static_cast<GstPad*>(gst_object_ref_sink(new_pad))), id(source_pad), output(what) {}
  ~StereoRequestPad() { forget_negotiation(); }

  void forget_negotiation() {
    if (pool)
      gst_buffer_pool_set_active(pool.get(), FALSE);
    pool.reset();
    format.reset();
  }

  const ObjectPtr<GstPad> pad;
  const SourcePad id;
  const StereoOutput output;

  // All threads may use this.
  std::atomic<bool> released{false};

  // Only the aggregating thread uses these.
  std::optional<FrameFormat> format;  ///< agreed on with the peer, or none
  ObjectPtr<GstBufferPool> pool;
  bool discont = true;  ///< the pad's next buffer does not continue its last one
  bool ended = false;   ///< its branch has answered a frame with EOS
};

/// By source pad; nullptr for src, and where nobody has requested the pad.
using RequestPads = PerSourcePad<std::shared_ptr<StereoRequestPad>>;

/// The source pads that get the output of a pair.
struct OpenPads {
  bool src;
  RequestPads requested;  ///< nullptr for all others
};

using OutputBuffers = PerSourcePad<OwnedBuffer>;

/// What is pushed for a pair.
struct PairOutputs {
  OpenPads pads;
  OutputBuffers buffers;
  bool drops_src = false;  ///< src has got a peer that does not take its buffer
};
using PairInFlight = FrameInFlight<PairOutputs>;

/// The state of a cudasgmstereo element. GstAggregator calls some virtual functions of the element
/// in the streaming threads of the sink pads, and the others in a thread of its own, the
/// aggregating thread. The comments say which threads may use which members.
///
/// No buffer, caps or event may be freed under the object lock, because an application may be told
/// when they are, and may then call the element.
struct StereoState {
  explicit StereoState(GstElement* element) : session(element), diagnostics(element) {}

  bool is_left(const GstAggregatorPad* pad) const { return pad == left.pad; }
  StereoInput& input(const GstAggregatorPad* pad) { return is_left(pad) ? left : right; }
  StereoInput& other_input(const GstAggregatorPad* pad) { return is_left(pad) ? right : left; }

  DeviceSession session;
  StereoInput left, right;
  GstPadChainFunction chain_of_parent = nullptr;  ///< GstAggregator's, of the sink pads

  // Guarded by the object lock.
  StereoSettings settings;
  std::optional<StereoSettings> started;  ///< the settings at the last start; none before it
  QosState qos;
  RequestPads request_pads;  ///< also those that are being released

  // Only the streaming thread of sink_left uses this.
  std::optional<UnlinkedStream> unlinked;  ///< of sink_right while nothing is linked to it

  // All threads may use these.
  UnlinkedPadAlarm alarm{UnlinkedPadAlarm::Kind::waiting};
  UnlinkedPadAlarm end_alarm{UnlinkedPadAlarm::Kind::ended};
  CapsArrival arrival;
  CompletionWait frames_arrival;              ///< in the queues of the sink pads
  std::atomic<bool> arrived_packed{false};    ///< by the last caps that arrived on sink_left
  std::atomic<bool> flush_finished{false};    ///< on sink_left; its next SEGMENT is still to come
  std::atomic<bool> downstream_ended{false};  ///< all branches have answered a frame with EOS

  // Only the aggregating thread uses these.
  std::optional<StereoCalibration> calibration;  ///< read at the start
  FramePacking packing;
  std::optional<FrameFormat> out;
  std::unique_ptr<StereoWork> work;    ///< made for the first pair of frames of these formats
  std::deque<PairInFlight> in_flight;  ///< oldest first
  /// The answer of downstream to pairs that were pushed before an event, for the next aggregate().
  GstFlowReturn late_flow = GST_FLOW_OK;
  SettingsGuard guard;
  UnequalPairs unequal;
  UnpairedFrames unpaired;
  StereoDiagnostics diagnostics;
  bool discont = true;       ///< the next outputs do not continue the last ones
  bool restart = false;      ///< the next pair does not continue those before, over time
  bool src_discont = false;  ///< the next buffer on src does not continue the last one there
  bool src_ended = false;    ///< what is behind src has answered a frame with EOS
  GstClockTime last_running_time = GST_CLOCK_TIME_NONE;  ///< of the last pair
  bool segment_sent = false;                             ///< downstream has the current segment
  guint32 segment_seqnum = GST_SEQNUM_INVALID;           ///< of the last SEGMENT on sink_left
  /// Downstream has EOS already, while GstAggregator still waits for the other pad. Src caps that
  /// are negotiated now would be lost.
  bool eos_sent = false;
  guint32 eos_seqnum = GST_SEQNUM_INVALID;  ///< of the last EOS on a sink pad
  bool renegotiate = false;                 ///< as soon as eos_sent is false again
};

}  // namespace cudavision

struct GstCudaSgmStereo {
  GstAggregator parent;
  cudavision::StereoState* state;
};

namespace cudavision {

inline StereoState& stereo_state(gpointer self) {
  return *static_cast<GstCudaSgmStereo*>(self)->state;
}

/// Returns the class to chain up to.
inline GstAggregatorClass* stereo_parent_class() {
  return static_cast<GstAggregatorClass*>(g_type_class_peek(GST_TYPE_AGGREGATOR));
}

/// Returns the current settings, except that those which need a restart are as they were at the
/// start.
StereoSettings stereo_settings(gpointer self);

/// Forgets the caps that arrived on a sink pad last, because what comes next may have another size.
void stereo_forget_arrived_caps(gpointer self, StereoInput& input);

/// Returns the pads that have not been released.
RequestPads stereo_request_pads(gpointer self);

/// Frees everything that was made for the current formats and the current CUDA context. The request
/// pads negotiate anew before their next buffers. Pairs that are still in flight are dropped.
void stereo_release_work(gpointer self);

/// Forgets which branches have answered with EOS, because another stream follows.
void stereo_reopen_branches(gpointer self);

// Virtual functions of GstElement and GstAggregator.
GstStateChangeReturn stereo_change_state(GstElement* element, GstStateChange transition);
void stereo_set_context(GstElement* element, GstContext* context);
gboolean stereo_start(GstAggregator* self);
gboolean stereo_stop(GstAggregator* self);

}  // namespace cudavision
