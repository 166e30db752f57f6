// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/stereostate.h"

/// Handles the frames in the queues of the sink pads: pairs them, drops those without a partner,
/// and skips those that are late. Only the aggregating thread may call these functions.
namespace cudavision {

/// Reports, as latency, how long a frame may wait for its partner. Call this when that may have
/// changed.
void stereo_update_latency(GstAggregator* self);

// Virtual functions of GstAggregator. Each call of aggregate takes at least one frame out of the
// queues, or returns GST_AGGREGATOR_FLOW_NEED_DATA or GST_FLOW_EOS.
GstFlowReturn stereo_aggregate(GstAggregator* self, gboolean timeout);
GstClockTime stereo_get_next_time(GstAggregator* self);
GstSample* stereo_peek_next_sample(GstAggregator* self, GstAggregatorPad* pad);

}  // namespace cudavision
