// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/remap/remap.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {

/// Returns 1024 times the interpolated sample. at(u, v) must accept positions outside the image.
template <class At>
std::int64_t defined_remap_sum(const At& at, const remap::Map& map, int x, int y) {
  const int u = map.places.row(y)[2 * x], v = map.places.row(y)[2 * x + 1];
  const int fx = map.fractions.row(y)[x] % 32, fy = map.fractions.row(y)[x] / 32 % 32;
  return std::int64_t{1} * (32 - fx) * (32 - fy) * at(u, v) + fx * (32 - fy) * at(u + 1, v) +
         (32 - fx) * fy * at(u, v + 1) + fx * fy * at(u + 1, v + 1);
}

/// Returns 1024 times the interpolated sample of an image; samples outside are 0.
std::int64_t defined_remap_sum(const DefinedLuminance& picture, const remap::Map& map, int x,
                               int y);

/// Returns true if the source position of output pixel (x, y) is outside an image of this size.
bool defined_outside(int picture_width, int picture_height, const remap::Map& map, int x, int y);

void defined_remap(const FrameLayout& layout, const remap::Map& map, const ConstFrame& in,
                   View<std::uint8_t> out);

}  // namespace cudavision::test
