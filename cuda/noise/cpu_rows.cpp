// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/noise/cpu_rows.h"

#include <cstdlib>

#include "cuda/core/parallel.h"
#include "cuda/noise/blocks.h"

namespace cudavision::noise {
namespace {

// The constant distance helps the compiler to vectorise the loop.
template <int kSpacing>
CUDAVISION_TARGET_CLONES void add_differences(const std::uint8_t* above, const std::uint8_t* row,
                                              const std::uint8_t* below, int width,
                                              std::uint16_t* __restrict sums) {
  const auto column = [=](int x) __attribute__((always_inline)) {
    return static_cast<std::int16_t>(above[x] - 2 * row[x] + below[x]);
  };
  for (int x = 0; x < width; ++x) {
    const auto difference =
        static_cast<std::int16_t>(column(x - kSpacing) - 2 * column(x) + column(x + kSpacing));
    sums[x] = static_cast<std::uint16_t>(sums[x] + std::abs(difference));
  }
}

}  // namespace

void add_second_differences(const std::uint8_t* above, const std::uint8_t* row,
                            const std::uint8_t* below, int spacing, int width,
                            std::uint16_t* sums) {
  if (spacing == 1)
    add_differences<1>(above, row, below, width, sums);
  else
    add_differences<3>(above, row, below, width, sums);
}

CUDAVISION_TARGET_CLONES
void count_extremes(const std::uint8_t* row, int width, std::uint32_t* __restrict extremes) {
  for (int x = 0; x < width; ++x)
    extremes[x] += is_extreme(row[x]) ? 1 : 0;
}

CUDAVISION_TARGET_CLONES
void add_levels(const std::uint8_t* row, int width, std::uint16_t* __restrict sums) {
  for (int x = 0; x < width; ++x)
    sums[x] = static_cast<std::uint16_t>(sums[x] + row[x]);
}

CUDAVISION_TARGET_CLONES
void add_squares(const std::uint8_t* row, int width, std::uint32_t* __restrict sums) {
  for (int x = 0; x < width; ++x)
    sums[x] += static_cast<std::uint32_t>(row[x] * row[x]);
}

CUDAVISION_TARGET_CLONES
void find_differences(const std::uint8_t* row, const std::uint8_t* first, int width,
                      std::uint8_t* __restrict different) {
  for (int x = 0; x < width; ++x)
    different[x] = static_cast<std::uint8_t>(different[x] | (row[x] ^ first[x]));
}

}  // namespace cudavision::noise
