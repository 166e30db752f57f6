// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/pixels/luminance.h"

namespace cudavision::rig {

/// The brightness and contrast of a picture, in 8-bit grey levels unless noted.
struct Exposure {
  double mean = 0;
  /// Mean absolute difference, clipped to 40, between a pixel and the mean of 7×7 pixels around it.
  double contrast = 0;
  /// Share of pixels within one level of the brightest pixel; 0 if the brightest is below 230.
  double saturated = 0;
  double black = 0;  ///< share of the pixels at level 20 or below
};

/// The picture must be in host memory.
Exposure exposure_of(const SamplePlane& picture);

/// Returns 256 times the factor that raises the contrast to the other picture's contrast. The
/// factor is 1.25 to 8, or 1 if a factor below 1.25 would suffice.
int gain_for(const Exposure& exposure, const Exposure& other);

}  // namespace cudavision::rig
