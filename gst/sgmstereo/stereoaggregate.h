// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/stereostate.h"

/// What happens to the frames in the queues: they are paired, dropped, or skipped if they are late;
/// after the end of one camera those of the other are dropped.
/// Only for the aggregating thread.
namespace cudavision {

/// Reports how long a frame may wait for its partner. To be called when that may have changed.
void stereo_update_latency(GstAggregator* self);

/// Drops the pad's held frame, if there is one.
void stereo_drop_held(GstAggregator* self, StereoInput& input);

/// Sends EOS downstream if a camera has ended, as no further pair can form then. Throws
/// ElementError if none has formed because the pictures differ.
void stereo_check_end(GstAggregator* self);

// Virtual functions of GstAggregator. Each call of aggregate takes at least one frame out of the
// queues, or returns GST_AGGREGATOR_FLOW_NEED_DATA or GST_FLOW_EOS.
GstFlowReturn stereo_aggregate(GstAggregator* self, gboolean timeout);
GstClockTime stereo_get_next_time(GstAggregator* self);
GstSample* stereo_peek_next_sample(GstAggregator* self, GstAggregatorPad* pad);

}  // namespace cudavision
