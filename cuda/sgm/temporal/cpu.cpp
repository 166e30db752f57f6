// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stage that compares a frame with those before it.

#include <algorithm>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

CUDAVISION_TARGET_CLONES
void filter_row(const std::uint16_t* map, const std::uint16_t* measured,
                const TemporalFilter filter, int width, std::uint16_t* __restrict numbers,
                std::uint8_t* __restrict ages) {
  for (int x = 0; x < width; ++x) {
    // Both are loaded first, because GCC makes a branch of && between loads.
    const std::uint16_t number = map[x], known = measured[x];
    const FilteredPixel pixel = filtered_over_time(number, number != unknown && known != unknown,
                                                   {numbers[x], ages[x]}, filter);
    numbers[x] = pixel.number;
    ages[x] = pixel.age;
  }
}

}  // namespace

void filter_over_time_cpu(const StageConfig& config, const std::uint16_t* map,
                          const std::uint16_t* measured, const TemporalFilter& filter,
                          const History& history) {
  const int width = config.width;
  const std::uint16_t* const known = measured ? measured : map;
  const bool begins = history.begins();
  Bands(config.height).for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y) {
      const std::int64_t first = std::int64_t{y} * width;
      if (begins) {
        std::fill_n(history.numbers + first, width, unknown);
        std::fill_n(history.ages + first, width, std::uint8_t{0});
      }
      filter_row(map + first, known + first, filter, width, history.numbers + first,
                 history.ages + first);
    }
  });
}

}  // namespace cudavision::sgm
