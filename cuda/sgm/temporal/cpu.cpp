// SPDX-License-Identifier: LGPL-2.1-or-later
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
    // Both values are loaded first, because GCC compiles && between loads to a branch.
    const std::uint16_t number = map[x], known = measured[x];
    const FilteredPixel pixel = filtered_over_time(number, number != unknown && known != unknown,
                                                   {numbers[x], ages[x]}, filter);
    numbers[x] = pixel.number;
    ages[x] = pixel.age;
  }
}

}  // namespace

void run_stage(const StageRows& rows, const FilterOverTime& stage) {
  const int width = rows.config.width;
  const std::uint16_t* const measured = stage.measured ? stage.measured : stage.map;
  const bool begins = stage.history.begins();
  for_rows(rows.config.height, [&](int y) {
    std::uint16_t* const numbers = rows.row(stage.history.numbers, y);
    std::uint8_t* const ages = rows.row(stage.history.ages, y);
    if (begins) {
      std::fill_n(numbers, width, unknown);
      std::fill_n(ages, width, std::uint8_t{0});
    }
    filter_row(rows.row(stage.map, y), rows.row(measured, y), stage.filter, width, numbers, ages);
  });
}

}  // namespace cudavision::sgm
