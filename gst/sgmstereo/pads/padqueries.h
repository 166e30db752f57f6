// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pads/stereostate.h"
#include "gst/sgmstereo/pairing/packedframes.h"

/// Queries about caps and buffer pools, in any thread, and the choice of a source pad's caps.
namespace cudavision {

/// Returns the packing of the frames of a sink pad. Throws ElementError for unsupported caps.
FramePacking stereo_check_caps(GstAggregator* self, const GstAggregatorPad* pad,
                               const GstCaps* caps);

gboolean stereo_answer_src_caps(GstAggregator* self, StereoOutput output, GstQuery* query);

/// Returns the possible caps that the peer accepts. Throws ElementError if there are none.
Caps stereo_common_caps(GstAggregator* self, GstPad* source_pad, StereoOutput output,
                        GstCaps* possible);

/// Fixates caps that a source pad and its peer accept. Prefers CUDA memory if the peer's caps list
/// it, then the first format. Empty caps stay empty.
Caps stereo_fixated_caps(Caps possible, GstPad* source_pad);

/// Returns true if the pad's peer neither has nor accepts the pad's current caps.
bool stereo_peer_refuses_current_caps(GstPad* pad);

/// Calls stereo_check_caps(), and stores the caps. Unless the frames are packed, requests a
/// reconfiguration from upstream of the other pad if its caps do not fit.
FramePacking stereo_store_arrived_caps(GstAggregator* self, GstAggregatorPad* pad, GstCaps* caps);

// Virtual functions of GstAggregator that do not use StereoStream: any thread may call them.
gboolean stereo_sink_query(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query);
gboolean stereo_src_query(GstAggregator* self, GstQuery* query);
GstCaps* stereo_fixate_src_caps(GstAggregator* self, GstCaps* caps);
gboolean stereo_propose_allocation(GstAggregator* self, GstAggregatorPad* pad,
                                   GstQuery* decide_query, GstQuery* query);

}  // namespace cudavision
