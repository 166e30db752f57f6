// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/kernels/common/random.h"
#include "tests/kernels/sgm/sgm_definition.h"

namespace cudavision::test {

struct NamedMap {
  std::string name;
  Map map;
};

/// Maps with regions that are difficult to separate or to connect.
inline std::vector<NamedMap> speckle_maps(Random& random, int width, int height) {
  struct Shape {
    const char* name;
    std::function<int(int x, int y)> number;
  };
  constexpr int none = sgm::unknown;
  const int last_column = width - 1, last_row = height - 1;
  const auto is_rim = [](int x, int y, int size) {
    return x % size == 0 || x % size == size - 1 || y % size == 0 || y % size == size - 1;
  };
  const Shape shapes[] = {
      {"noise", [&](int, int) { return random.one_in(3) ? none : random.between(0, 12); }},
      {"much noise", [&](int, int) { return random.one_in(2) ? none : random.between(0, 40); }},
      {"dots", [&](int, int) { return random.one_in(5) ? random.between(0, 9) : none; }},
      {"patches", [&](int x, int y) { return random.one_in(9) ? none : 6 * (x / 5 + y / 4); }},
      {"small patches on a plane",
       [](int x, int y) { return x % 11 < 4 && y % 9 < 4 ? 100 + x / 11 * 7 : 10; }},
      {"one region", [](int x, int y) { return 5 * x + 5 * y; }},
      {"rims of tiles", [=](int x, int y) { return is_rim(x, y, 32) ? 9 : none; }},
      {"without the rims", [=](int x, int y) { return is_rim(x, y, 32) ? none : 9; }},
      {"columns", [](int x, int y) { return 9 * x + y; }},
      {"rows", [](int x, int y) { return x + 9 * y; }},
      {"chessboard", [](int x, int y) { return (x + y) % 2 ? 100 : 106; }},
      {"nothing", [](int, int) { return none; }},
      // The teeth are connected in the last row only, or in the first row only.
      {"comb", [=](int x, int y) { return x % 2 == 0 || y == last_row ? 7 : none; }},
      {"hanging comb", [](int x, int y) { return x % 2 == 0 || y == 0 ? 7 : none; }},
      // A winding corridor: even rows, connected alternately at their right and left ends.
      {"corridor",
       [=](int x, int y) { return y % 2 == 0 || x == (y / 2 % 2 ? 0 : last_column) ? x : none; }},
  };
  std::vector<NamedMap> maps;
  for (const Shape& shape : shapes) {
    NamedMap made{shape.name, {}};
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        made.map.push_back(static_cast<std::uint16_t>(shape.number(x, y)));
    maps.push_back(made);
  }
  return maps;
}

}  // namespace cudavision::test
