// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/scoped.h"
#include "gst/base/videoformat.h"
#include "gst/sgmstereo/packedframes.h"
#include "gst/sgmstereo/stereosettings.h"

/// The caps of cudasgmstereo: frames of one size and bit depth on both sink pads, maps of that size
/// on the source pad. These functions do not depend on pads; stereonegotiation.h connects them.
namespace cudavision {

/// Returns the template of the source pad, which covers every value of the property output.
Caps stereo_src_template();

/// Returns the caps that output allows, best first. They include CUDA memory only if cuda is true.
Caps stereo_src_caps(StereoOutput output, bool cuda);

/// Returns the caps that output allows for left frames with these fixed caps, best first.
Caps stereo_src_caps_for(const GstCaps* left, const FramePacking& packing, StereoOutput output,
                         bool cuda);

/// Returns the caps that a sink pad accepts. other is the caps of the other sink pad, which fix the
/// size and the bit depth, or nullptr if it has none yet.
Caps stereo_sink_caps(const GstCaps* other, bool cuda);

/// Throws ElementError if the frames of the two sink pads differ in width, height or bit depth.
void require_equal_pictures(const FrameFormat& left, const FrameFormat& right);

}  // namespace cudavision
