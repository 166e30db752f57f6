// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pipeline/stereostream.h"

/// What flows on the request pads. The aggregating thread pushes on them after src. Before each
/// buffer and gap it sends those of src's sticky events that the pad lacks: STREAM_START with an id
/// of the pad's own, CAPS of the pad's own, SEGMENT and TAG. A pad that is not linked, or whose
/// branch has ended, gets no buffers and causes no work.
namespace cudavision {

/// A probe on src, which repeats EOS and flushes on the request pads, in whatever thread they are
/// sent.
GstPadProbeReturn stereo_follow_src(GstPad* src, GstPadProbeInfo* info, gpointer self);

// Only the aggregating thread may call the functions below. They may throw.

/// Returns the request pads that can take a buffer now. The others are nullptr.
RequestPads open_request_pads(StereoStream& stream);

/// Returns true if the pad must negotiate with its peer before its next buffer.
bool stereo_must_negotiate(StereoStream& stream, StereoRequestPad& pad);
/// No pair may be in flight. Returns GST_FLOW_NOT_LINKED or GST_FLOW_EOS if this pad alone can get
/// no buffer, because it has just been released, for example.
GstFlowReturn stereo_negotiate_request_pad(StereoStream& stream, StereoRequestPad& pad);

/// Pushes a buffer, after the events that must precede it, or drops it if these cannot be sent, or
/// if a new peer does not take its caps. A pad that has just been released answers
/// GST_FLOW_NOT_LINKED.
GstFlowReturn stereo_push_on_request_pad(StereoStream& stream, StereoRequestPad& pad,
                                         OwnedBuffer buffer);

/// Pushes a GAP event on the request pads that have caps.
void stereo_push_gap_on_request_pads(StereoStream& stream, GstEvent* gap);

}  // namespace cudavision
