// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// Returns colours from 1 (far) to 255 (near); 0 (unknown) is black.
///  turbo: the polynomials of degree 5 by Anton Mikhailov and Ruofei Du for Google's Turbo ("Turbo,
///         An Improved Rainbow Colormap for Visualization", 2019), in binary64
///  jet:   red, green and blue as trapezoids around 3/4, 1/2 and 1/4 of the range, in integers
///  gray:  each index itself
sgm::ColorTable color_table(Colormap map);

}  // namespace cudavision
