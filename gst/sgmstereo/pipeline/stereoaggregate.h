// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pipeline/stereostream.h"

/// Handles the frames in the queues of the sink pads: pairs them, drops those without a partner,
/// skips those that are late, and takes those that arrive after the end of the other camera. Only
/// the aggregating thread may call these functions.
namespace cudavision {

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

}  // namespace cudavision
