// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <string>

#include "gst/sgmstereo/pads/stereostate.h"

/// Arriving events and frames.
namespace cudavision {

/// For the streaming threads of the sink pads. Nothing arrives during start and stop.
struct SinkPadState {
  SinkPadState(GstAggregator* aggregator, StereoState& state_of_all)
      : self(aggregator), state(state_of_all), unlinked(GST_PAD_CAST(state.right.pad)) {}

  /// Call this at start and stop.
  void reset();

  GstAggregator* const self;
  StereoState& state;
  GstPadChainFunction chain_of_parent = nullptr;  ///< GstAggregator's, of the sink pads
  /// For the streaming thread of sink_left.
  UnlinkedStream unlinked;
  /// Left, right; each only for its pad's streaming thread.
  std::array<std::string, 2> last_refusals;
};

GstFlowReturn stereo_chain(SinkPadState& sinks, GstPad* pad, GstBuffer* buffer);
/// A handler for the signal "unlinked" of a sink pad, in any thread.
void stereo_pad_unlinked(GstPad* pad, GstPad* peer, gpointer self);

// Virtual functions of GstAggregator, in the pad's streaming thread. sink_event_pre_queue gets
// serialized events when they arrive, and sink_event gets flushes.
GstFlowReturn stereo_sink_event_pre_queue(SinkPadState& sinks, GstAggregatorPad* pad,
                                          GstEvent* event);
gboolean stereo_sink_flush_event(SinkPadState& sinks, GstAggregatorPad* pad, GstEvent* event);
gboolean stereo_src_event(GstAggregator* self, GstEvent* event);

}  // namespace cudavision
