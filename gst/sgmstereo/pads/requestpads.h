// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pads/stereostate.h"

/// The source pads that exist on request, besides the always-pad src. GstAggregator only knows src:
/// it negotiates src, sends the events of the stream there, and starts and stops its thread with
/// it. A request pad is a plain GstPad that follows src:
///
///  - pipeline/branches.cpp pushes on it after src.
///  - Queries and upstream events are handled as if they came to src, but CAPS queries get the
///    pad's own answer, and QoS events are ignored: a frame is skipped if it is late on src.
namespace cudavision {

void add_request_pad_templates(GstElementClass* klass);

// Virtual functions of GstElement, for any thread.
GstPad* stereo_request_new_pad(GstElement* element, GstPadTemplate* pad_template, const gchar* name,
                               const GstCaps* caps);
void stereo_release_pad(GstElement* element, GstPad* pad);

/// Handles pad-removed. From now on, a pad with the same name can be added. Connect it before other
/// handlers, so that they may request the pad again.
void stereo_pad_removed(GstElement* element, GstPad* pad, gpointer);

}  // namespace cudavision
