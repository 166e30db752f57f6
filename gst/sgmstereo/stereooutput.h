// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/headframe.h"
#include "gst/sgmstereo/stereostate.h"

/// Everything that cudasgmstereo pushes downstream. Only for the aggregating thread; each function
/// may throw.
namespace cudavision {

/// Computes the output for a pair whose formats and src caps are known, and pushes it. right:
/// nullptr if frames are packed.
GstFlowReturn stereo_push_output(GstAggregator* self, HeadFrame& left, HeadFrame* right);

/// Tells downstream that there is no output for the time of a left frame.
void stereo_push_gap(GstAggregator* self, GstBuffer* left);

/// Ends the stream as no further pair can form. GstAggregator would wait for EOS on the other pad,
/// where frames may go on coming; when EOS comes there, it sends EOS again, which has no effect.
void stereo_push_eos(GstAggregator* self);

/// Begins a new stream behind the EOS that stereo_push_eos() has sent: a camera has taken the place
/// of one that ended.
void stereo_restart_output(GstAggregator* self);

/// The next output belongs to the current segment of sink_left.
void stereo_apply_segment(GstAggregator* self);

}  // namespace cudavision
