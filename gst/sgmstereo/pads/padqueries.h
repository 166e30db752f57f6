// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pads/stereostate.h"
#include "gst/sgmstereo/pairing/packedframes.h"

/// What the element answers to its neighbours about caps and buffer pools, in any thread.
namespace cudavision {

/// A CAPS event has arrived on a sink pad. Returns how its frames are packed; throws ElementError
/// for frames that the element cannot process whatever the other pad gets. If the other pad's
/// frames do not fit these, asks what is upstream of it to adapt.
FramePacking stereo_store_arrived_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* caps);

// Virtual functions of GstAggregator.
/// Queries of sink pads that are not serialized.
gboolean stereo_sink_query(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query);
gboolean stereo_src_query(GstAggregator* self, GstQuery* query);
GstCaps* stereo_fixate_src_caps(GstAggregator* self, GstCaps* caps);
gboolean stereo_propose_allocation(GstAggregator* self, GstAggregatorPad* pad,
                                   GstQuery* decide_query, GstQuery* query);

}  // namespace cudavision
