// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <string>

#include "gst/sgmstereo/pads/stereostate.h"

/// Events and frames as they arrive.
namespace cudavision {

/// The part of a cudasgmstereo element that belongs to the streaming threads of its sink pads, in
/// which frames and events arrive. Nothing arrives while the element starts and stops.
struct SinkPadState {
  SinkPadState(GstAggregator* aggregator, StereoState& state_of_all)
      : self(aggregator), state(state_of_all), unlinked(GST_PAD_CAST(state.right.pad)) {}

  /// Call this at start and stop.
  void reset();

  GstAggregator* const self;
  StereoState& state;
  GstPadChainFunction chain_of_parent = nullptr;  ///< GstAggregator's, of the sink pads
  /// The stream of sink_right while nothing is linked to it. Only the streaming thread of sink_left
  /// uses this.
  UnlinkedStream unlinked;
  /// Why caps were last refused, or empty. The streaming thread of each pad uses its own, the left
  /// one the first.
  std::array<std::string, 2> last_refusals;
};

/// The chain function of the sink pads.
GstFlowReturn stereo_chain(SinkPadState& sinks, GstPad* pad, GstBuffer* buffer);
/// A handler for the signal "unlinked" of a sink pad, in any thread.
void stereo_pad_unlinked(GstPad* pad, GstPad* peer, gpointer self);

// Virtual functions of GstAggregator. sink_event_pre_queue sees a serialized event when it arrives,
// in the pad's streaming thread, and sink_event sees flushes there.
GstFlowReturn stereo_sink_event_pre_queue(SinkPadState& sinks, GstAggregatorPad* pad,
                                          GstEvent* event);
gboolean stereo_sink_flush_event(SinkPadState& sinks, GstAggregatorPad* pad, GstEvent* event);
gboolean stereo_src_event(GstAggregator* self, GstEvent* event);

}  // namespace cudavision
