// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/videoformat.h"
#include "gst/sgmstereo/packedframes.h"
#include "gst/sgmstereo/stereosettings.h"

/// The caps of cudasgmstereo: frames of one size on both sink pads, maps of that size out.
namespace cudavision {

/// All that any output may have. The caller owns the caps.
GstCaps* stereo_src_template();

/// Of that, what output can have, best first; in CUDA memory only where cuda is true. The caller
/// owns the caps.
GstCaps* stereo_src_caps(StereoOutput output, bool cuda);

/// What can come out for frames of the fixed caps left, best first. The caller owns the caps.
GstCaps* stereo_src_caps_for(const GstCaps* left, const FramePacking& packing, StereoOutput output,
                             bool cuda);

/// Which of the possible caps the element is going to put out on src: by choose_memory(), then the
/// first format. Takes caps, and the caller owns the result.
GstCaps* choose_stereo_output(GstCaps* caps, GstPad* src);

/// What a sink pad takes. other: caps of the other sink pad, whose size and depth are asked for
/// then, or nullptr. The caller owns the caps.
GstCaps* stereo_sink_caps(const GstCaps* other, bool cuda);

/// Throws ElementError where the frames of the two pads are no two pictures of one camera model:
/// width, height and depth must be equal.
void require_alike(const FrameFormat& left, const FrameFormat& right);

/// The kind of picture behind src caps of output=disparity or depth.
sgm::PictureParameters::Kind picture_kind(StereoOutput output, const FrameFormat& out);

}  // namespace cudavision
