// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/stereostate.h"

/// Events, and the stream of sink_right while it is unlinked.
namespace cudavision {

// Virtual functions of GstAggregator. sink_event_pre_queue sees a serialized event when it arrives,
// in the pad's streaming thread; sink_event sees it when its turn comes, in the aggregating thread.
// sink_event sees flushes in the streaming thread.
GstFlowReturn stereo_sink_event_pre_queue(GstAggregator* self, GstAggregatorPad* pad,
                                          GstEvent* event);
gboolean stereo_sink_event(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event);
gboolean stereo_src_event(GstAggregator* self, GstEvent* event);
GstFlowReturn stereo_flush(GstAggregator* self);

/// A handler for the signal "unlinked" of a sink pad.
void stereo_pad_unlinked(GstPad* pad, GstPad* peer, gpointer self);

/// The chain function of the sink pads.
GstFlowReturn stereo_chain(GstPad* pad, GstObject* self, GstBuffer* buffer);

}  // namespace cudavision
