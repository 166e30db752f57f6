// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Fills the unknown pixels of a map.

#include <algorithm>

#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

/// Returns true if the row has a known pixel.
bool fill_row(std::uint16_t* row, int width) {
  std::uint16_t before = unknown;  // the last known number; unknown is the largest number, so
                                   // std::min() ignores it
  for (int x = 0; x < width;) {
    if (row[x] != unknown) {
      before = row[x++];
      continue;
    }
    int end = x;
    while (end < width && row[end] == unknown)
      ++end;
    const std::uint16_t after = end < width ? row[end] : unknown;
    std::fill(row + x, row + end, std::min(before, after));
    x = end;
  }
  return before != unknown;
}

}  // namespace

void fill_empty_rows(const StageRows& rows, const bool* has_known, std::uint16_t* map) {
  const int width = rows.config.width, height = rows.config.height;
  const int first = static_cast<int>(std::find(has_known, has_known + height, true) - has_known);
  if (first == height)
    return;
  for (int y = 0; y < height; ++y)
    if (!has_known[y])
      std::copy_n(rows.row(map, y < first ? first : y - 1), width, rows.row(map, y));
}

void fill_holes_cpu(const StageRows& rows, bool* has_known, std::uint16_t* map) {
  for_rows(rows.config.height,
           [&](int y) { has_known[y] = fill_row(rows.row(map, y), rows.config.width); });
  fill_empty_rows(rows, has_known, map);
}

}  // namespace cudavision::sgm
