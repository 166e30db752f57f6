// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <string>

#include "gst/sgmstereo/pads/stereostate.h"

/// Handles events and frames on arrival, before GstAggregator queues them.
namespace cudavision {

/// The state of the sink pads' streaming threads.
struct SinkPadState {
  SinkPadState(GstAggregator* aggregator, StereoState& state_of_all)
      : self(aggregator), state(state_of_all), unlinked(GST_PAD_CAST(state.right.pad)) {}

  /// Call this at start and stop.
  void reset();

  GstAggregator* const self;
  StereoState& state;
  GstPadChainFunction chain_of_parent = nullptr;  ///< GstAggregator's function
  UnlinkedStream unlinked;                        ///< used only for events of sink_left
  /// The error of each pad's last caps, or empty; left first. Used in the pad's thread.
  std::array<std::string, 2> last_refusals;
};

GstFlowReturn stereo_chain(SinkPadState& sinks, GstPad* pad, GstBuffer* buffer);
/// Handles the signal "unlinked" of a sink pad, in any thread.
void stereo_pad_unlinked(GstPad* pad, GstPad* peer, gpointer self);

// Virtual functions of GstAggregator. The first handles serialized events, in the pad's streaming
// thread, the second flush events, and the third upstream events that arrive on src.
GstFlowReturn stereo_sink_event_pre_queue(SinkPadState& sinks, GstAggregatorPad* pad,
                                          GstEvent* event);
gboolean stereo_sink_flush_event(SinkPadState& sinks, GstAggregatorPad* pad, GstEvent* event);
gboolean stereo_src_event(GstAggregator* self, GstEvent* event);

}  // namespace cudavision
