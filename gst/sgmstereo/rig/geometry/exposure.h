// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/pixels/luminance.h"

namespace cudavision::rig {

/// The brightness of a picture, in 8-bit grey levels.
struct Exposure {
  double mean = 0;
  /// Mean absolute difference between a pixel and the mean of 7×7 pixels around it.
  double contrast = 0;
  /// Share of pixels at the picture's two highest levels, if these are 230 or more.
  double saturated = 0;
  double black = 0;  ///< share of the pixels at level 20 or below
};

/// The picture must be in host memory.
Exposure exposure_of(const SamplePlane& picture);

/// Returns the factor, in units of 1/256, that raises the contrast to the other picture's contrast:
/// from 1.25 to 8, or 1 if a smaller factor would suffice.
int gain_for(const Exposure& exposure, const Exposure& other);

}  // namespace cudavision::rig
