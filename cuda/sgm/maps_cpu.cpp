// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

/// Of the pixels between the outermost ones; above and below: the rows there.
CUDAVISION_TARGET_CLONES
void median_row(const std::uint16_t* above, const std::uint16_t* row, const std::uint16_t* below,
                int width, std::uint16_t* __restrict to) {
  for (int x = 1; x < width - 1; ++x)
    to[x] = median_of_9(above[x - 1], above[x], above[x + 1], row[x - 1], row[x], row[x + 1],
                        below[x - 1], below[x], below[x + 1]);
}

}  // namespace

void median_cpu(const Config& config, const std::uint16_t* from, std::uint16_t* to) {
  const int width = config.width, height = config.height;
  const std::uint16_t outermost =
      config.compatibility == Parameters::Compatibility::libsgm ? 0 : unknown;
  Bands(height).for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y) {
      const std::uint16_t* const row = from + std::int64_t{y} * width;
      std::uint16_t* const out = to + std::int64_t{y} * width;
      if (y == 0 || y == height - 1)
        std::fill_n(out, width, outermost);
      else
        median_row(row - width, row, row + width, width, out);
      out[0] = out[width - 1] = outermost;
    }
  });
}

}  // namespace cudavision::sgm
