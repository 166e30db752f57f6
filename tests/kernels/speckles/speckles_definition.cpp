// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/speckles/speckles_definition.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {

void defined_despeckled(const FrameLayout& layout, const speckles::Parameters& parameters,
                        const ConstFrame& from, const Frame& to) {
  copy_rows(layout, from, to);
  const Channel& channel = layout.channels[0];
  const int largest = (1 << layout.bits) - 1, ink = parameters.white ? largest : 0;
  std::vector<bool> seen(static_cast<std::size_t>(layout.width) * layout.height);
  // Returns true at the first call for a pixel of the ink colour, and marks the pixel as seen.
  const auto is_new = [&](int x, int y) {
    if (x < 0 || y < 0 || x >= layout.width || y >= layout.height ||
        defined_sample(layout, from, channel, x, y) != ink)
      return false;
    const std::size_t place = static_cast<std::size_t>(y) * layout.width + x;
    const bool seen_before = seen[place];
    seen[place] = true;
    return !seen_before;
  };
  for (int y = 0; y < layout.height; ++y)
    for (int x = 0; x < layout.width; ++x) {
      std::vector<std::pair<int, int>> component;
      if (is_new(x, y))
        component.emplace_back(x, y);
      for (std::size_t i = 0; i < component.size(); ++i) {
        const auto [px, py] = component[i];
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            if (is_new(px + dx, py + dy))
              component.emplace_back(px + dx, py + dy);
      }
      if (component.size() <= static_cast<std::size_t>(parameters.size))
        for (const auto& [px, py] : component)
          put_sample(layout, to, channel, px, py, largest - ink);
    }
}

}  // namespace cudavision::test
