// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "gst/core/scoped.h"
#include "gst/core/videoformat.h"
#include "gst/sgmstereo/pairing/packedframes.h"
#include "gst/sgmstereo/stereosettings.h"

/// The caps of cudasgmstereo. The outputs have the size of the pictures.
namespace cudavision {

Caps stereo_src_template();

/// Returns the caps of an output, best first. Includes CUDA memory only if `cuda` is true.
Caps stereo_src_caps(StereoOutput output, bool cuda);

/// Returns the caps of an output for left frames with the fixed caps `left`, best first.
Caps stereo_src_caps_for(const GstCaps* left, const FramePacking& packing, StereoOutput output,
                         bool cuda);

/// Reads fixed caps of an output. Throws ElementError for unsupported caps and too large buffers.
FrameFormat stereo_output_format(StereoOutput output, const GstCaps* caps);

/// Returns the sink caps that have the sizes and bit depths of `other`, which need not be fixed.
Caps stereo_sink_caps_for(const GstCaps* other, bool cuda);

/// Returns true if the caps allow several sizes or bit depths.
bool leaves_choice(const GstCaps* caps);

/// Returns an error with its remedy if width, height or bit depth differ, or an empty string.
std::string pair_error(const FrameFormat& left, const FrameFormat& right);

}  // namespace cudavision
