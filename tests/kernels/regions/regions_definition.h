// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/core/frame.h"
#include "cuda/regions/regions.h"

/// A second implementation of the blend of regions, pixel by pixel.
namespace cudavision::test {

/// Returns the weight of a pixel, 0 to 256. `distance` is its distance to the nearest mask.
int defined_weight(const regions::Parameters& parameters, int x, int y, int distance = 255);

/// Writes every byte of every row of out. `distances` holds each pixel's distance to the nearest
/// mask in row-major order; without masks, it may be empty.
void defined_region_blend(const FrameLayout& layout, const regions::Parameters& parameters,
                          const ConstFrame& in, const ConstFrame& processed, const Frame& out,
                          const std::vector<std::uint8_t>& distances = {});

}  // namespace cudavision::test
