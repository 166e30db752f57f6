// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

#include <functional>

#include "gst/core/caps.h"
#include "gst/core/videoformat.h"

/// Caps of elements whose output has other caps than their input.
namespace cudavision {

/// Bits of the samples in a gray output picture: more than 8 only for frames of more than 8 bits,
/// or as downstream asks.
enum class GrayDepth { as_input, any };

/// Returns true if a filter takes frames in CUDA memory.
bool takes_cuda(GstBaseTransform* trans);
bool is_deep(GstVideoFormat format);
/// Returns all formats of the sink pads.
Formats all_formats();
/// Removes the fields that mean nothing without chroma, and colorimetry, which gray pictures have
/// on their own.
void remove_color(GstStructure* structure);
/// Returns the same caps with GRAY8 before GRAY16_LE and nothing else.
Caps prefer_8_bits(const GstCaps* caps);
/// Returns the formats of frames that can become gray pictures in one of the given formats.
Formats frame_formats_for(const Formats& gray, GrayDepth depth);

/// Returns gray pictures of all sizes, in CUDA memory only if cuda is true.
Caps gray_template(bool cuda = true);
/// For an element whose output is a gray picture of the frame's size, returns what the other pad
/// accepts if the pad of the given direction has caps. CUDA memory is possible only if cuda is
/// true.
Caps gray_caps_of_other_side(GstPadDirection direction, GstCaps* caps, GstCaps* filter,
                             GrayDepth depth, bool cuda);
/// Reads fixed output caps, for pictures of this size. Throws ElementError if they have another
/// size; in names the input.
FrameFormat picture_format(const FrameFormat& in, const GstCaps* caps, int width, int height);

/// GstBaseTransformClass.fixate_caps for the source pad. choose() reduces the caps that the element
/// can put out for `in` to one structure. Takes `suggested`, as that function does.
GstCaps* fixate_output(GstBaseTransform* trans, GstCaps* in, GstCaps* suggested,
                       const std::function<Caps(Caps)>& choose);

}  // namespace cudavision
