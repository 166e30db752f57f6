// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/videoformat.h"
#include "gst/integral/integralsettings.h"

/// The caps of cudaintegral, whose output is not what came in: tables as tensors or as pictures in
/// shades of gray, means, deviations and thresholds as gray pictures of the frame's size.
namespace cudavision {

/// All that any form of output may have. The caller owns the caps.
GstCaps* integral_src_template();

/// What the other side of the element may have when the pad of that direction has caps; in the
/// order of our preference. cuda: as of caps_of_other_side(). The caller owns the result.
GstCaps* integral_caps_of_other_side(GstPadDirection direction, GstCaps* caps, GstCaps* filter,
                                     const OutputForm& form, bool cuda);

/// Reduces the caps that the element could put out on src, for frames of the fixed caps in, to the
/// one that it is going to: a tensor rather than a picture of the table, then by choose_memory(),
/// then 8 rather than 16 bits. Takes caps, and the caller owns the result.
GstCaps* choose_integral_output(GstCaps* caps, const GstCaps* in, const OutputForm& form,
                                GstPad* src);

/// The format behind fixed output caps. Throws ElementError where nothing like that can come out.
FrameFormat integral_output_format(const FrameFormat& in, const GstCaps* caps,
                                   const OutputForm& form);

}  // namespace cudavision
