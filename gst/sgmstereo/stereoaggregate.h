// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/stereostate.h"

/// What cudasgmstereo does with the frames in its queues. All in the aggregating thread; each may
/// throw.
namespace cudavision {

/// GstAggregatorClass.aggregate: one step, which takes at least one frame out of the queues.
GstFlowReturn stereo_aggregate(GstAggregator* self, bool timeout);

/// GstAggregatorClass.get_next_time.
GstClockTime stereo_next_time(GstAggregator* self);

/// Other frames come in or go out from now on: what was made for the last ones goes.
void stereo_release(GstAggregator* self);

/// No further pair can form: ends the stream, although frames may still come on the other pad, for
/// which the base class would wait. When they do come, it ends the stream once more, to no effect.
void stereo_end(GstAggregator* self, GstEvent* eos);

/// Says how long a frame may wait for its partner.
void stereo_report_latency(GstAggregator* self);

}  // namespace cudavision
