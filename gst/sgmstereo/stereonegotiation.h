// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/stereostream.h"

/// Caps, queries and buffer pools, which the element negotiates with its neighbours.
///
/// Caps reach a sink pad twice. The CAPS event arrives in the pad's streaming thread, is checked
/// and stored, so that the other pad's CAPS query can offer the same size, and joins the queue
/// after older frames. Its turn comes in the aggregating thread, and only then do the caps apply.
namespace cudavision {

/// A CAPS event has arrived on a sink pad. Returns how its frames are packed; throws ElementError
/// for frames that the element cannot process whatever the other pad gets. If the other pad's
/// frames do not fit these, asks what is upstream of it to adapt.
FramePacking stereo_store_arrived_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* caps);

/// The turn of a CAPS event has come. Throws ElementError.
void stereo_apply_caps(StereoStream& stream, GstAggregatorPad* pad, GstCaps* caps);

// Virtual functions of GstAggregator.
gboolean stereo_serialized_sink_query(StereoStream& stream, GstAggregatorPad* pad, GstQuery* query);
/// All other queries of sink pads, in any thread.
gboolean stereo_sink_query(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query);
gboolean stereo_src_query(GstAggregator* self, GstQuery* query);
gboolean stereo_negotiate(StereoStream& stream);
GstFlowReturn stereo_update_src_caps(StereoStream& stream, GstCaps* downstream, GstCaps** result);
GstCaps* stereo_fixate_src_caps(GstAggregator* self, GstCaps* caps);
gboolean stereo_negotiated_src_caps(StereoStream& stream, GstCaps* caps);
gboolean stereo_decide_allocation(StereoStream& stream, GstQuery* query);
gboolean stereo_propose_allocation(GstAggregator* self, GstAggregatorPad* pad,
                                   GstQuery* decide_query, GstQuery* query);

}  // namespace cudavision
