// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages that visit each pixel of a map once: the median, the left-right check and the output.

#include <algorithm>
#include <cstring>

#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

/// Makes all pixels of the row but the first and the last.
CUDAVISION_TARGET_CLONES
void median_row(const std::uint16_t* above, const std::uint16_t* row, const std::uint16_t* below,
                int width, std::uint16_t* __restrict to) {
  for (int x = 1; x < width - 1; ++x)
    to[x] = median_of_9(above[x - 1], above[x], above[x + 1], row[x - 1], row[x], row[x + 1],
                        below[x - 1], below[x], below[x + 1]);
}

CUDAVISION_TARGET_CLONES
void write_row(const std::uint16_t* map, int width, std::uint16_t added, std::uint16_t invalid,
               std::uint8_t* __restrict out) {
  for (int x = 0; x < width; ++x) {
    const auto known = static_cast<std::uint16_t>(map[x] + added);
    const std::uint16_t number = map[x] == unknown ? invalid : known;
    std::memcpy(out + 2 * std::ptrdiff_t{x}, &number, sizeof number);
  }
}

/// Calls row(y, number of the row's first pixel) for all rows, in parallel.
template <class Row>
void for_each_row(const StageConfig& config, const Row& row) {
  Bands(config.height).for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y)
      row(y, std::int64_t{y} * config.width);
  });
}

}  // namespace

std::uint32_t luminance_at(const SamplePlane& picture, int x, int y) {
  const std::uint8_t* const row = picture.rows.row(y);
  return picture.bits == 8 ? row[x]
                           : sample_value(load16(row + 2 * std::ptrdiff_t{x}), picture.shift,
                                          (1u << picture.bits) - 1);
}

void median_cpu(const StageConfig& config, const std::uint16_t* from, std::uint16_t* to) {
  const int width = config.width, height = config.height;
  const std::uint16_t outermost = config.libsgm() ? 0 : unknown;
  for_each_row(config, [&](int y, std::int64_t first) {
    const std::uint16_t* const row = from + first;
    std::uint16_t* const out = to + first;
    if (y == 0 || y == height - 1)
      std::fill_n(out, width, outermost);
    else
      median_row(row - width, row, row + width, width, out);
    out[0] = out[width - 1] = outermost;
  });
}

void check_cpu(const StageConfig& config, const SamplePlane& picture, const std::uint16_t* right,
               bool subpixel, int max_diff, std::uint16_t* left) {
  const int width = config.width;
  const bool libsgm = config.libsgm();
  const int shift = subpixel ? 4 : 0;
  for_each_row(config, [&](int y, std::int64_t first) {
    std::uint16_t* const row = left + first;
    const std::uint16_t* const other = right + first;
    for (int x = 0; x < width; ++x) {
      const bool confirmed = libsgm
                                 ? is_confirmed_by_libsgm(row[x], luminance_at(picture, x, y), x,
                                                          width, other, shift, max_diff)
                                 : is_confirmed(row[x], x, width, config.minimum, other, max_diff);
      if (!confirmed)
        row[x] = unknown;
    }
  });
}

void write_cpu(const StageConfig& config, const std::uint16_t* map, const DisparityScale& scale,
               View<std::uint8_t> disparity) {
  const auto added = static_cast<std::uint16_t>(config.minimum * scale.per_pixel);
  for_each_row(config, [&](int y, std::int64_t first) {
    write_row(map + first, config.width, added, scale.invalid, disparity.row(y));
  });
}

}  // namespace cudavision::sgm
