// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/pixels/luminance.h"

namespace cudavision::rig {

/// The brightness of a picture, in levels of 8 bits.
struct Exposure {
  double mean = 0;
  /// Mean absolute difference of a pixel from the mean of the 7×7 pixels around it.
  double contrast = 0;
  /// Share of the pixels at the picture's highest level or the one below, if that is 230 or more:
  /// video of limited range ends at 235.
  double saturated = 0;
  double black = 0;  ///< share of the pixels at level 20 or below
};

/// Measures a picture, which is in host memory, at the places of a grid.
Exposure exposure_of(const SamplePlane& picture);

/// Returns the factor in 1/256, at most 8, that raises the contrast of a picture to that of the
/// other one: 1 if it has no less, or less by a fifth only.
int gain_for(const Exposure& exposure, const Exposure& other);

}  // namespace cudavision::rig
