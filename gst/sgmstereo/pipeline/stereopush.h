// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pipeline/stereostream.h"

/// Pushes everything that cudasgmstereo sends downstream. Only the aggregating thread may call
/// these functions. Each of them may throw.
namespace cudavision {

/// Pushes the oldest pairs in flight, as soon as each is complete, on all source pads that
/// something is linked to, until only `left` of them are in flight. Returns an error of any of the
/// pads, GST_FLOW_EOS if all branches have ended, and GST_FLOW_NOT_LINKED if nothing is linked to
/// any pad. Unless it returns GST_FLOW_OK, the pairs that are left have been dropped.
GstFlowReturn stereo_push_pairs(StereoStream& stream, std::size_t left);

/// Pushes all pairs in flight, because something follows that must come after them. What
/// stereo_push_pairs() returns is for the next call of stereo_aggregate().
void stereo_finish_pairs(StereoStream& stream);

/// Tells downstream that there is no output for the time of a left frame.
void stereo_push_gap(StereoStream& stream, GstBuffer* left);

/// Ends the stream because no further pair can form. GstAggregator would wait for EOS on the other
/// pad, where frames may still arrive. When EOS arrives there, GstAggregator sends EOS again, which
/// has no effect.
void stereo_push_eos(StereoStream& stream);

/// Begins a new stream after the EOS that stereo_push_eos() has sent.
void stereo_restart_output(StereoStream& stream);

/// Makes the current segment of sink_left that of the next output.
void stereo_apply_segment(StereoStream& stream);

}  // namespace cudavision
