// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pipeline/stereostream.h"

/// Events whose turn has come, after the frames that were queued before them.
namespace cudavision {

// Virtual functions of GstAggregator.
gboolean stereo_sink_event(StereoStream& stream, GstAggregatorPad* pad, GstEvent* event);
GstFlowReturn stereo_flush(StereoStream& stream);

}  // namespace cudavision
