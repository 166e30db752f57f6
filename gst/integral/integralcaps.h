// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/core/videoformat.h"
#include "gst/integral/integralsettings.h"

/// The caps of cudaintegral: tables become tensors or gray pictures; means and standard deviations
/// become gray pictures of the frame's size.
namespace cudavision {

Caps integral_src_template(bool cuda = true);

/// Returns what the other pad accepts, best first. CUDA memory is possible only if cuda is true.
Caps integral_caps_of_other_side(GstPadDirection direction, GstCaps* caps, GstCaps* filter,
                                 const OutputForm& form, bool cuda);

/// Reduces the possible caps for src to one structure, with the fixed input caps in. Prefers
/// tensors to pictures of tables, the memory of choose_memory(), and 8 bits.
Caps choose_integral_output(Caps caps, const GstCaps* in, const OutputForm& form, GstPad* src);

/// Reads fixed output caps. Throws ElementError if frames of format in cannot have this output.
FrameFormat integral_output_format(const FrameFormat& in, const GstCaps* caps,
                                   const OutputForm& form);

}  // namespace cudavision
