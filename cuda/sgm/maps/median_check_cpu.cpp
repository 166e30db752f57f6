// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/pixels/sample_math.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

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
    store16(out + 2 * std::ptrdiff_t{x}, map[x] == unknown ? invalid : known);
  }
}

std::uint32_t luminance_at(const SamplePlane& picture, int x, int y) {
  const std::uint8_t* const row = picture.rows.row(y);
  return picture.bits == 8 ? row[x]
                           : sample_value(load16(row + 2 * std::ptrdiff_t{x}), picture.shift,
                                          (1u << picture.bits) - 1);
}

}  // namespace

void run_stage(const StageRows& rows, const Median& stage) {
  const int width = rows.config.width, height = rows.config.height;
  const std::uint16_t outermost = rows.config.libsgm() ? 0 : unknown;
  for_rows(height, [&](int y) {
    const std::uint16_t* const row = rows.row(stage.from, y);
    std::uint16_t* const out = rows.row(stage.to, y);
    if (y == 0 || y == height - 1)
      std::fill_n(out, width, outermost);
    else
      median_row(row - width, row, row + width, width, out);
    out[0] = out[width - 1] = outermost;
  });
}

void run_stage(const StageRows& rows, const Check& stage) {
  const StageConfig& config = rows.config;
  const int width = config.width;
  const bool libsgm = config.libsgm();
  const int shift = stage.subpixel ? 4 : 0;
  for_rows(config.height, [&](int y) {
    std::uint16_t* const row = rows.row(stage.left, y);
    const std::uint16_t* const other = rows.row(stage.right, y);
    for (int x = 0; x < width; ++x) {
      const bool confirmed =
          libsgm ? is_confirmed_by_libsgm(row[x], luminance_at(stage.picture, x, y), x, width,
                                          other, shift, stage.max_diff)
                 : is_confirmed(row[x], x, width, config.minimum, other, stage.max_diff);
      if (!confirmed)
        row[x] = unknown;
    }
  });
}

void run_stage(const StageRows& rows, const Write& stage) {
  const auto added = static_cast<std::uint16_t>(rows.config.minimum * stage.scale.per_pixel);
  for_rows(rows.config.height, [&](int y) {
    write_row(rows.row(stage.map, y), rows.config.width, added, stage.scale.invalid,
              stage.disparity.row(y));
  });
}

void run_stage(const StageRows& rows, const ApplyMask& stage) {
  for_rows(rows.config.height, [&](int y) {
    std::uint16_t* const row = rows.row(stage.map, y);
    for (int word = 0; word < stage.mask.width; ++word)
      for (std::uint32_t bits = stage.mask.row(y)[word]; bits != 0; bits &= bits - 1)
        row[32 * word + __builtin_ctz(bits)] = unknown;
  });
}

}  // namespace cudavision::sgm
