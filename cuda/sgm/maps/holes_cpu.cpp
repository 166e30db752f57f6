// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Fills the unknown pixels of a map.

#include <algorithm>

#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

/// Fills a row. Returns true if it has a known pixel.
bool fill_row(std::uint16_t* row, int width) {
  std::uint16_t before = unknown;  // the last known number; unknown loses in std::min()
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

void fill_empty_rows(const StageConfig& config, const bool* has_known, std::uint16_t* map) {
  const int width = config.width, height = config.height;
  const auto row = [=](int y) { return map + std::int64_t{y} * width; };
  const int first = static_cast<int>(std::find(has_known, has_known + height, true) - has_known);
  if (first == height)
    return;
  for (int y = 0; y < height; ++y)
    if (!has_known[y])
      std::copy_n(row(y < first ? first : y - 1), width, row(y));
}

HolesCpu::HolesCpu(Device& device, const StageConfig& config)
    : config_(config), has_known_(device.allocate(static_cast<std::size_t>(config.height))) {}

void HolesCpu::run(std::uint16_t* map) const {
  const int width = config_.width, height = config_.height;
  auto* const has_known = has_known_.as<bool>();
  const auto row = [=](int y) { return map + std::int64_t{y} * width; };
  Bands(height).for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y)
      has_known[y] = fill_row(row(y), width);
  });
  fill_empty_rows(config_, has_known, map);
}

}  // namespace cudavision::sgm
