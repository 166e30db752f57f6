// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/remap/remap_definition.h"

#include <cstring>

namespace cudavision::test {

std::int64_t defined_remap_sum(const DefinedLuminance& picture, const remap::Map& map, int x,
                               int y) {
  const auto at = [&](int u, int v) {
    const bool inside = u >= 0 && u < picture.width && v >= 0 && v < picture.height;
    return inside ? std::int64_t{picture.at(u, v)} : 0;
  };
  return defined_remap_sum(at, map, x, y);
}

bool defined_outside(int picture_width, int picture_height, const remap::Map& map, int x, int y) {
  const auto outside = [](int whole, int fraction, int size) {
    return whole < 0 || whole > size - 1 || (whole == size - 1 && fraction > 0);
  };
  const int fractions = map.fractions.row(y)[x];
  return outside(map.places.row(y)[2 * x], fractions % 32, picture_width) ||
         outside(map.places.row(y)[2 * x + 1], fractions / 32 % 32, picture_height);
}

void defined_remap(const FrameLayout& layout, const remap::Map& map, const ConstFrame& in,
                   View<std::uint8_t> out) {
  const DefinedLuminance picture(layout, in);
  for (int y = 0; y < map.fractions.height; ++y)
    for (int x = 0; x < map.fractions.width; ++x) {
      const std::int64_t sample = (defined_remap_sum(picture, map, x, y) + 512) / 1024;
      if (layout.bits == 8) {
        out.row(y)[x] = static_cast<std::uint8_t>(sample);
      } else {
        const auto word = static_cast<std::uint16_t>(sample);
        std::memcpy(out.row(y) + std::size_t{2} * static_cast<std::size_t>(x), &word, 2);
      }
    }
}

}  // namespace cudavision::test
