// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// Returns colours from 1 (far) to 255 (near); 0 (unknown) is black.
///  turbo: the polynomials of degree 5 by Anton Mikhailov and Ruofei Du for Google's Turbo ("Turbo,
///         An Improved Rainbow Colormap for Visualization", 2019), in binary64
///  jet:   red, green and blue as trapezoids around 3/4, 1/2 and 1/4 of the range, in integers
///  gray:  each index itself
sgm::ColorTable color_table(Colormap map);

/// The property colormap-range, which says what values the grey levels and colours of pictures
/// stand for. It is a list of ranges, separated by semicolons:
///
///   full      all values that the output can have
///   auto      from the 2nd to the 98th percentile of the picture, smoothed over time
///   0,64      these values: pixels of disparity, counts of depth, or levels of confidence
///
/// A range holds for all outputs, or for one whose name precedes it: depth=500,4000. A later range
/// replaces an earlier one. An output without a range has its default: auto for depth, full for the
/// others.
///
/// Returns an empty string if the text is such a list, else what is wrong and how to mend it.
/// Allocates nothing if it is.
std::string colormap_range_error(const char* text);

/// Sets the range of the picture's quantity. The text has no error. Allocates nothing.
void set_colormap_range(const char* text, sgm::PictureParameters& picture);

}  // namespace cudavision
