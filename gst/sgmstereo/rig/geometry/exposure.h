// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/pixels/luminance.h"

namespace cudavision::rig {

/// The brightness of a picture, in levels of 8 bits.
struct Exposure {
  double mean = 0;
  /// Mean absolute difference of a pixel from the mean of the 7×7 pixels around it.
  double contrast = 0;
  /// Share of pixels at the picture's two highest levels from 230 on: limited video ends at 235.
  double saturated = 0;
  double black = 0;  ///< share of the pixels at level 20 or below
};

/// The picture must be in host memory.
Exposure exposure_of(const SamplePlane& picture);

/// Returns the factor in 1/256, at most 8, that raises the contrast to the other's. It is 1 if the
/// contrast is lower by at most a fifth.
int gain_for(const Exposure& exposure, const Exposure& other);

}  // namespace cudavision::rig
