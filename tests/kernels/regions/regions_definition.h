// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/frame.h"
#include "cuda/regions/regions.h"

/// A second implementation of the blend of regions, pixel by pixel.
namespace cudavision::test {

/// Returns the weight of a pixel, 0 to 256.
int defined_weight(const regions::Parameters& parameters, int x, int y);

/// Writes every byte of every row of out.
void defined_region_blend(const FrameLayout& layout, const regions::Parameters& parameters,
                          const ConstFrame& in, const ConstFrame& processed, const Frame& out);

}  // namespace cudavision::test
