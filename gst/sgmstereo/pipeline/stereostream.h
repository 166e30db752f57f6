// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "gst/base/frameclock.h"
#include "gst/base/properties.h"
#include "gst/core/text.h"
#include "gst/flight/frameinflight.h"
#include "gst/sgmstereo/pads/stereostate.h"
#include "gst/sgmstereo/pairing/inputtimeout.h"
#include "gst/sgmstereo/pairing/packedframes.h"
#include "gst/sgmstereo/pairing/pairingtimeout.h"
#include "gst/sgmstereo/pairing/peekedbuffer.h"
#include "gst/sgmstereo/pairing/sizemismatch.h"
#include "gst/sgmstereo/pipeline/inspection.h"
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

/// The source pads that get the output of a pair.
struct OpenPads {
  bool src;
  RequestPads requested;  ///< nullptr for all others
};

using OutputBuffers = PerSourcePad<OwnedBuffer>;

/// The buffers of a pair, and the pads on which they are pushed.
struct PairOutputs {
  OpenPads pads;
  OutputBuffers buffers;
  bool drops_src = false;  ///< src has got a peer that does not take its buffer
};
using PairInFlight = FrameInFlight<PairOutputs>;

/// The part of a cudasgmstereo element that belongs to the aggregating thread, in which
/// GstAggregator calls most virtual functions: they get it as their argument, and whoever has none
/// cannot reach it. GstAggregator starts, stops and flushes the element while that thread stands
/// still.
struct StereoStream {
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
  FramePacking packing;
  std::unique_ptr<StereoProcessor> processor;  ///< made for the first pair of these formats
  std::deque<PairInFlight> in_flight;          ///< oldest first
  /// The answer of downstream to pairs that were pushed before an event, for the next aggregate().
  GstFlowReturn late_flow = GST_FLOW_OK;
  SettingsGuard guard;
  SizeMismatch mismatch;
  PairingTimeout pairing_timeout;
  InspectionInterval inspections;
  /// Pairs are matched without one until the first is inspected, unless calibration=auto.
  std::unique_ptr<CameraRig> rig;
  RectifiedOptics optics;                  ///< of the pictures that are matched
  bool warned_of_unknown_lengths = false;  ///< with calibration=auto
  SourceBranch src{std::nullopt, false};
  bool outputs_discont = true;    ///< the next outputs, of all pads, do not continue the last ones
  bool temporal_restart = false;  ///< the next pair does not continue those before, over time
  std::optional<FrameClock> clock;  ///< of the pairs; has the framerate of the left caps
  bool segment_sent = false;        ///< downstream has the current segment
  guint32 segment_seqnum = GST_SEQNUM_INVALID;  ///< of the last SEGMENT on sink_left
  /// Downstream has EOS already, while GstAggregator still waits for the other pad. Src caps that
  /// are negotiated now would be lost.
  bool eos_sent = false;
  guint32 eos_seqnum = GST_SEQNUM_INVALID;  ///< of the last EOS on a sink pad
  bool renegotiate = false;                 ///< as soon as eos_sent is false again
};

/// Frees everything that was made for the current formats and the current CUDA context. The request
/// pads negotiate anew before their next buffers. Pairs that are still in flight are dropped.
void stereo_release_processor(StereoStream& stream);

/// Forgets which branches have answered with EOS, because another stream follows.
void stereo_reopen_branches(StereoStream& stream);

// Virtual functions of GstAggregator.
gboolean stereo_start(StereoStream& stream);
gboolean stereo_stop(StereoStream& stream);

}  // namespace cudavision
