// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/core/videoformat.h"
#include "gst/integral/integralsettings.h"

/// The caps of cudaintegral. Tables are tensors of depth 1, or gray pictures. Means and standard
/// deviations are gray pictures of the frame's size. outputcaps.h documents the parameter `cuda`.
namespace cudavision {

Caps integral_src_template(bool cuda = true);

/// Returns the possible caps of the other pad, in the order of filter or, without it, best first.
Caps integral_caps_of_other_side(GstPadDirection direction, GstCaps* caps, GstCaps* filter,
                                 const OutputForm& form, bool cuda);

/// Reduces the possible caps for `src` to one structure. `in` has the fixed input caps. Prefers
/// tensors to pictures, then the memory of choose_memory(), then 8 bits.
Caps choose_integral_output(Caps caps, const GstCaps* in, const OutputForm& form, GstPad* src);

/// Reads the fixed caps of a table. Throws ElementError if they describe no table, or a table that
/// is too large for a buffer pool.
FrameFormat tensor_format_from_caps(const GstCaps* caps);

/// Reads fixed output caps. Throws ElementError if they do not fit frames of format `in`.
FrameFormat integral_output_format(const FrameFormat& in, const GstCaps* caps,
                                   const OutputForm& form);

}  // namespace cudavision
