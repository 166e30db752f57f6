// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "gst/base/scoped.h"
#include "gst/base/videoformat.h"
#include "gst/sgmstereo/packedframes.h"
#include "gst/sgmstereo/stereosettings.h"

/// The caps of cudasgmstereo: frames of one size and bit depth on both sink pads, maps of that size
/// on the source pad. These functions know nothing of pads; stereonegotiation.h does.
namespace cudavision {

/// The template of the source pad: all that any value of the property output allows.
Caps stereo_src_template();

/// The caps that output allows, best first; in CUDA memory only if cuda is true.
Caps stereo_src_caps(StereoOutput output, bool cuda);

/// The caps that output allows for left frames with these fixed caps, best first.
Caps stereo_src_caps_for(const GstCaps* left, const FramePacking& packing, StereoOutput output,
                         bool cuda);

/// The caps that a sink pad accepts.
Caps stereo_sink_caps(bool cuda);

/// Those of them that fit the caps of the other sink pad, which need not be fixed: frames of a size
/// and a bit depth that the other pad may have too.
Caps stereo_sink_caps_for(const GstCaps* other, bool cuda);

/// Whether these caps of a sink pad allow several sizes or bit depths.
bool leaves_choice(const GstCaps* caps);

/// Empty, or why these frames of the two sink pads cannot form a pair, and what to change: they
/// differ in width, height or bit depth.
std::string pair_error(const FrameFormat& left, const FrameFormat& right);

}  // namespace cudavision
