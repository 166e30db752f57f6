// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/remap/remap.h"
#include "tests/kernels/pixels/luminance_definition.h"

/// A second implementation of Remap, which shares no code with the one under test.
namespace cudavision::test {

/// Returns the weighted sum of four samples at the place of pixel (x, y), times 1024.
std::int64_t defined_remap_sum(const DefinedLuminance& picture, const remap::Map& map, int x,
                               int y);

/// Returns true if the place of pixel (x, y) lies outside a picture of this size.
bool defined_outside(int picture_width, int picture_height, const remap::Map& map, int x, int y);

/// Writes every sample of out, which has the map's size and the layout's depth.
void defined_remap(const FrameLayout& layout, const remap::Map& map, const ConstFrame& in,
                   View<std::uint8_t> out);

}  // namespace cudavision::test
