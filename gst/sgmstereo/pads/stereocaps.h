// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "gst/core/scoped.h"
#include "gst/core/videoformat.h"
#include "gst/sgmstereo/pairing/packedframes.h"
#include "gst/sgmstereo/stereosettings.h"

/// The caps of cudasgmstereo: frames of one size and bit depth on both sink pads, maps of that size
/// on the source pad. These functions do not depend on pads; padqueries.h connects them.
namespace cudavision {

/// Returns the template of the source pad, which covers every value of the property output.
Caps stereo_src_template();

/// Returns the caps that output allows, best first. They include CUDA memory only if cuda is true.
Caps stereo_src_caps(StereoOutput output, bool cuda);

/// Returns the caps that output allows for left frames with these fixed caps, best first.
Caps stereo_src_caps_for(const GstCaps* left, const FramePacking& packing, StereoOutput output,
                         bool cuda);

/// Returns the format of the buffers that an output has with these fixed caps. Throws ElementError
/// if they are too large.
FrameFormat stereo_output_format(StereoOutput output, const GstCaps* caps);

/// Returns the caps that a sink pad accepts, whatever the other one has.
Caps stereo_sink_caps(bool cuda);

/// Returns the part of them that fits the caps of the other sink pad: frames of a size and a bit
/// depth that the other pad may have too. Those caps need not be fixed.
Caps stereo_sink_caps_for(const GstCaps* other, bool cuda);

/// Returns true if these caps of a sink pad allow several sizes or bit depths.
bool leaves_choice(const GstCaps* caps);

/// Returns an empty string if frames of these formats may form a pair. If they differ in width,
/// height or bit depth, says so and what to change.
std::string pair_error(const FrameFormat& left, const FrameFormat& right);

}  // namespace cudavision
