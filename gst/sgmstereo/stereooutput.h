// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/headframe.h"
#include "gst/sgmstereo/stereostate.h"

/// Pushes everything that cudasgmstereo sends downstream. Only the aggregating thread may call
/// these functions. Each of them may throw.
namespace cudavision {

/// Computes the outputs for a pair whose formats and src caps are known, and pushes them on all
/// source pads that something is linked to. right is nullptr if frames are packed. Returns an error
/// of any of the pads, GST_FLOW_EOS if all branches have ended, and GST_FLOW_NOT_LINKED if nothing
/// is linked to any pad.
GstFlowReturn stereo_push_output(GstAggregator* self, HeadFrame& left, HeadFrame* right);

/// Tells downstream that there is no output for the time of a left frame.
void stereo_push_gap(GstAggregator* self, GstBuffer* left);

/// Ends the stream because no further pair can form. GstAggregator would wait for EOS on the other
/// pad, where frames may still arrive. When EOS arrives there, GstAggregator sends EOS again, which
/// has no effect.
void stereo_push_eos(GstAggregator* self);

/// Begins a new stream after the EOS that stereo_push_eos() has sent.
void stereo_restart_output(GstAggregator* self);

/// Makes the current segment of sink_left that of the next output.
void stereo_apply_segment(GstAggregator* self);

}  // namespace cudavision
