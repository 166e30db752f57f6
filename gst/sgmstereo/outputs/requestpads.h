// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pairing/headframe.h"
#include "gst/sgmstereo/stereostream.h"

/// The source pads that exist on request, besides the always-pad src. GstAggregator knows src
/// alone: it negotiates src, sends the events of the stream there, and starts and stops the
/// aggregating thread with it. A request pad is a plain GstPad that follows src:
///
///  - The aggregating thread pushes on it after src. Before each buffer and gap it sends those of
///    src's sticky events that the pad lacks: STREAM_START with an id of the pad's own, CAPS of the
///    pad's own, SEGMENT and TAG.
///  - A probe on src repeats EOS and flushes on the pad, in whatever thread they are sent.
///  - Queries and upstream events are handled as if they came to src, but a CAPS query gets the
///    pad's own answer, and QoS events are ignored: a frame is skipped if it is late on src.
///
/// A pad that is not linked, or whose branch has ended, gets no buffers and causes no work.
namespace cudavision {

void add_request_pad_templates(GstElementClass* klass);

// Virtual functions of GstElement, for any thread.
GstPad* stereo_request_new_pad(GstElement* element, GstPadTemplate* pad_template, const gchar* name,
                               const GstCaps* caps);
void stereo_release_pad(GstElement* element, GstPad* pad);

/// A handler of pad-removed. A new pad of the same name can be added from now on, so it is here
/// that a request pad gives its place up. Connect it before anybody else can, so that other
/// handlers may request the pad again.
void stereo_pad_removed(GstElement* element, GstPad* pad, gpointer);

/// A probe on src.
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
