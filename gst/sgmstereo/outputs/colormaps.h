// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// Returns the colours of the levels 1 (far) to 255 (near). Level 0 (unknown) is black.
///  turbo: polynomials of degree 5 in binary64, by Anton Mikhailov and Ruofei Du ("Turbo, An
///         Improved Rainbow Colormap for Visualization", Google 2019)
///  jet:   red, green and blue as trapezoids around 3/4, 1/2 and 1/4 of the range, in integers
sgm::ColorTable color_table(Colormap map);

/// Checks the property colormap-range, a list of ranges separated by semicolons:
///    full      all values that the output can have
///    auto      from the 2nd to the 98th percentile of the picture, smoothed over time
///    0,64      a fixed range, in pixels of disparity, counts of depth, or levels of confidence
/// A range applies to all outputs, or to the output whose name precedes it: depth=500,4000. Later
/// ranges replace earlier ranges. The default is auto for depth, full for the other outputs.
/// Returns an error with its remedy or, without allocating, an empty string.
std::string colormap_range_error(const char* text);

/// The text must be valid. Allocates nothing.
void set_colormap_range(const char* text, sgm::PictureParameters& picture);

}  // namespace cudavision
