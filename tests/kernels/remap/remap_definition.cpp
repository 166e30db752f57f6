// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/remap/remap_definition.h"

#include <cstring>

namespace cudavision::test {
namespace {

/// A coordinate of a place.
struct Coordinate {
  int whole;
  int fraction;  ///< in 1/32 pixel
};

Coordinate x_of(const remap::Map& map, int x, int y) {
  return {map.places.row(y)[2 * x], map.fractions.row(y)[x] % 32};
}

Coordinate y_of(const remap::Map& map, int x, int y) {
  return {map.places.row(y)[2 * x + 1], map.fractions.row(y)[x] / 32 % 32};
}

bool outside(const Coordinate& place, int size) {
  return place.whole < 0 || place.whole > size - 1 ||
         (place.whole == size - 1 && place.fraction > 0);
}

}  // namespace

std::int64_t defined_remap_sum(const DefinedLuminance& picture, const remap::Map& map, int x,
                               int y) {
  const Coordinate across = x_of(map, x, y), down = y_of(map, x, y);
  std::int64_t sum = 0;
  for (const int i : {0, 1})
    for (const int j : {0, 1}) {
      const int u = across.whole + i, v = down.whole + j;
      if (u < 0 || u >= picture.width || v < 0 || v >= picture.height)
        continue;
      const int weight_x = i == 0 ? 32 - across.fraction : across.fraction;
      const int weight_y = j == 0 ? 32 - down.fraction : down.fraction;
      sum += std::int64_t{weight_x} * weight_y * picture.at(u, v);
    }
  return sum;
}

bool defined_outside(int picture_width, int picture_height, const remap::Map& map, int x, int y) {
  return outside(x_of(map, x, y), picture_width) || outside(y_of(map, x, y), picture_height);
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
