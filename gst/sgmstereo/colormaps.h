// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/sgm/disparitypicture.h"

namespace cudavision {

enum class Colormap { turbo, jet, gray };

/// Colours from far (1) to near (255); 0, which is not known, is black.
///  turbo: the polynomials of degree 5 that Anton Mikhailov and Ruofei Du gave for Google's Turbo
///         ("Turbo, An Improved Rainbow Colormap for Visualization", 2019), in binary64
///  jet:   red, green and blue as trapezoids around 3/4, 1/2 and 1/4 of the way, exact
///  gray:  the number itself
sgm::ColorTable color_table(Colormap map);

}  // namespace cudavision
