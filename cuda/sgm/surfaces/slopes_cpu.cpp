// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/sgm/stages_cpu.h"
#include "cuda/sgm/surfaces/arithmetic.h"

namespace cudavision::sgm {
namespace {

/// Calls fill(begin, end, value before, value after) for each run of unknown pixels. Values outside
/// the row are unknown. Returns true if the row has a known pixel.
template <class Fill>
bool fill_row(const std::uint16_t* row, int width, const Fill& fill) {
  std::uint16_t before = unknown;
  for (int x = 0; x < width;) {
    if (row[x] != unknown) {
      before = row[x++];
      continue;
    }
    int end = x;
    while (end < width && row[end] == unknown)
      ++end;
    fill(x, end, before, end < width ? row[end] : unknown);
    x = end;
  }
  return before != unknown;
}

/// At least one of before and after is known.
void fill_run(const StageConfig& config, const FillSlopes& stage, int y, int begin, int end,
              std::uint16_t before, std::uint16_t after, std::uint16_t* to) {
  const int top = 16 * (config.disparities - 1);
  if (is_one_surface(before, after)) {
    for (int x = begin; x < end; ++x)
      to[x] = interpolated(before, after, x - (begin - 1), end - x).within(top);
    return;
  }
  const bool from_before = before < after;  // unknown is the largest value
  const Slope slope = slope_at(stage.from, config.width, config.height,
                               from_before ? begin - 1 : end, y, from_before ? -1 : 1);
  for (int x = begin; x < end; ++x)
    to[x] = (from_before ? extrapolated(before, slope, x - (begin - 1))
                         : extrapolated(after, slope, end - x))
                .within(top);
}

CUDAVISION_TARGET_CLONES
void clear_confidence_row(const std::uint16_t* map, int width, std::uint8_t* confidence) {
  for (int x = 0; x < width; ++x)
    confidence[x] &= mask_of<std::uint8_t>(map[x] != unknown);
}

/// Fills rows without known pixels with the nearest row above or, if there is none, below.
void fill_empty_rows(const StageRows& rows, std::uint16_t* map) {
  const int width = rows.config.width, height = rows.config.height;
  const bool* const has_known = rows.has_known.as<bool>();
  const int first = static_cast<int>(std::find(has_known, has_known + height, true) - has_known);
  if (first == height)
    return;
  for (int y = 0; y < height; ++y)
    if (!has_known[y])
      std::copy_n(rows.row(map, y < first ? first : y - 1), width, rows.row(map, y));
}

}  // namespace

void run_stage(const StageRows& rows, const FillHoles& stage) {
  for_rows(rows.config.height, [&](int y) {
    std::uint16_t* const row = rows.row(stage.map, y);
    rows.has_known.as<bool>()[y] = fill_row(
        row, rows.config.width, [=](int begin, int end, std::uint16_t before, std::uint16_t after) {
          std::fill(row + begin, row + end, std::min(before, after));
        });
  });
  fill_empty_rows(rows, stage.map);
}

void run_stage(const StageRows& rows, const FillSlopes& stage) {
  const int width = rows.config.width;
  for_rows(rows.config.height, [&](int y) {
    const std::uint16_t* const from = rows.row(stage.from, y);
    std::uint16_t* const to = rows.row(stage.to, y);
    std::copy_n(from, width, to);
    rows.has_known.as<bool>()[y] =
        fill_row(from, width, [&](int begin, int end, std::uint16_t before, std::uint16_t after) {
          if (end - begin < width)
            fill_run(rows.config, stage, y, begin, end, before, after, to);
        });
    if (stage.confidence)
      clear_confidence_row(from, width, rows.row(stage.confidence, y));
  });
  fill_empty_rows(rows, stage.to);
}

}  // namespace cudavision::sgm
