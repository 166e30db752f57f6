// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pads/stereostate.h"
#include "gst/sgmstereo/pairing/packedframes.h"

/// What the element answers to its neighbours about caps and buffer pools, in any thread, and the
/// choice among the caps that the peer of a source pad accepts.
namespace cudavision {

/// Returns how the frames of a sink pad are packed. Throws ElementError for frames that the element
/// cannot process, whatever the other pad gets.
FramePacking stereo_check_caps(GstAggregator* self, const GstAggregatorPad* pad,
                               const GstCaps* caps);

/// Answers the CAPS query of a source pad with this output.
gboolean stereo_answer_src_caps(GstAggregator* self, StereoOutput output, GstQuery* query);

/// Returns the possible caps of a source pad that its peer accepts. Throws ElementError if there
/// are none.
Caps stereo_common_caps(GstAggregator* self, GstPad* source_pad, StereoOutput output,
                        GstCaps* possible);

/// Chooses fixed caps among those that a source pad and its peer agree on: the memory that the peer
/// names, then the first format. Returns empty caps if there are none.
Caps stereo_fixated_caps(Caps possible, GstPad* source_pad);

/// Returns true if the peer of a source pad would refuse buffers with the pad's current caps. That
/// is so if it has been linked since these were negotiated and wants others.
bool stereo_peer_refuses_current_caps(GstPad* pad);

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
