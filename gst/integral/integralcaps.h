// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/core/caps.h"
#include "gst/core/videoformat.h"
#include "gst/integral/integralsettings.h"

/// The caps of cudaintegral, whose output differs from its input: tables become tensors or gray
/// pictures; means, standard deviations and thresholds become gray pictures of the frame's size.
namespace cudavision {

/// Returns the union of the caps of all outputs.
Caps integral_src_template();

/// Returns what the other pad accepts if the pad of the given direction has caps, best first. CUDA
/// memory is possible only if cuda is true.
Caps integral_caps_of_other_side(GstPadDirection direction, GstCaps* caps, GstCaps* filter,
                                 const OutputForm& form, bool cuda);

/// Reduces the caps that the element can put out on src, for frames with the fixed caps in, to one
/// structure: a tensor rather than a picture of the table, the memory that choose_memory() chooses
/// for either, and 8 rather than 16 bits.
Caps choose_integral_output(Caps caps, const GstCaps* in, const OutputForm& form, GstPad* src);

/// Reads fixed output caps. Throws ElementError if frames of format in cannot become such output.
FrameFormat integral_output_format(const FrameFormat& in, const GstCaps* caps,
                                   const OutputForm& form);

}  // namespace cudavision
