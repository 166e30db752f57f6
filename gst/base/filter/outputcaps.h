// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

#include <functional>

#include "gst/core/caps.h"
#include "gst/core/videoformat.h"

/// Caps of elements whose output caps differ from their input caps. Functions with the parameter
/// `cuda` return caps with CUDA memory only if `cuda` is true.
namespace cudavision {

/// as_input: GRAY8 for frames of 8 bits, GRAY16_LE for more bits. any: both formats for all frames.
enum class GrayDepth { as_input, any };

bool takes_cuda(GstBaseTransform* trans);
/// Returns all formats of the sink pads.
Formats all_formats();
/// Returns the caps of gray pictures into which the frame can be converted without scaling.
Structure gray_pictures_of(const GstStructure* frame, GrayDepth depth);
/// Returns the caps of frames that can be converted into the gray picture, or nullptr if none can.
Structure frames_of_gray(const GstStructure* picture, GrayDepth depth);
/// Sorts the structures: GRAY8 before GRAY16_LE. Drops other formats.
Caps prefer_8_bits(const GstCaps* caps);

Caps gray_template(bool cuda = true);
/// Returns the other pad's caps, for an element whose output is a gray picture of the frame's size.
Caps gray_caps_of_other_side(GstPadDirection direction, GstCaps* caps, GstCaps* filter,
                             GrayDepth depth, bool cuda);
/// Reads fixed output caps. Throws ElementError unless they have the size width×height.
FrameFormat picture_format(const FrameFormat& in, const GstCaps* caps, int width, int height);

/// Implements GstBaseTransformClass.fixate_caps. On the source pad, choose() reduces the possible
/// output caps to one structure.
GstCaps* fixate_output(GstBaseTransform* trans, GstPadDirection direction, GstCaps* in,
                       GstCaps* suggested, const std::function<Caps(Caps)>& choose);

}  // namespace cudavision
