// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pipeline/stereostream.h"

/// What caps apply, and the buffer pools of src.
///
/// Caps reach a sink pad twice. The CAPS event arrives in the pad's streaming thread, is checked
/// and stored, so that the other pad's CAPS query can offer the same size, and joins the queue
/// after older frames. Its turn comes in the aggregating thread, and only then do the caps apply.
namespace cudavision {

/// The turn of a CAPS event has come. Throws ElementError.
void stereo_apply_caps(StereoStream& stream, GstAggregatorPad* pad, GstCaps* caps);

// Virtual functions of GstAggregator.
gboolean stereo_serialized_sink_query(StereoStream& stream, GstAggregatorPad* pad, GstQuery* query);
gboolean stereo_negotiate(StereoStream& stream);
GstFlowReturn stereo_update_src_caps(StereoStream& stream, GstCaps* downstream, GstCaps** result);
gboolean stereo_negotiated_src_caps(StereoStream& stream, GstCaps* caps);
gboolean stereo_decide_allocation(StereoStream& stream, GstQuery* query);

}  // namespace cudavision
