// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pads/stereostate.h"

/// The source pads that exist on request. GstAggregator handles only the always-pad src, so a
/// request pad is a plain GstPad that follows src:
///  - pipeline/branches.cpp pushes on src first, then on the request pads.
///  - Queries except CAPS and ACCEPT_CAPS, and events except RECONFIGURE and QOS, are sent to src.
///  - QOS events are ignored. Frames are skipped if they are late on src.
namespace cudavision {

void add_request_pad_templates(GstElementClass* klass);

// Virtual functions of GstElement, in any thread.
GstPad* stereo_request_new_pad(GstElement* element, GstPadTemplate* pad_template, const gchar* name,
                               const GstCaps* caps);
void stereo_release_pad(GstElement* element, GstPad* pad);

/// Handles pad-removed. Connect it before other handlers, so that they can request the pad again.
void stereo_pad_removed(GstElement* element, GstPad* pad, gpointer);

}  // namespace cudavision
