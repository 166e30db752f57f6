// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/geometry/exposure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gst/sgmstereo/rig/geometry/picturepatch.h"

namespace cudavision::rig {
namespace {

constexpr int grid_columns = 24, grid_rows = 16;
constexpr int patch_width = 16, patch_height = 9;
constexpr int highest_black = 20, lowest_white = 230;
constexpr double equal_contrasts = 1.25;
constexpr double largest_gain = 8;

}  // namespace

Exposure exposure_of(const SamplePlane& picture) {
  PatchReader reader;
  std::size_t counts[256] = {};
  std::size_t pixels = 0, sum = 0, differences = 0;
  const int wide = std::min(patch_width, picture.width);
  const int high = std::min(patch_height, picture.height());
  const int columns = std::min(grid_columns, (picture.width + wide - 1) / wide);
  const int rows = std::min(grid_rows, (picture.height() + high - 1) / high);
  std::vector<std::uint8_t> levels(static_cast<std::size_t>(wide));
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const int x = columns > 1 ? (picture.width - wide) * column / (columns - 1) : 0;
      const int y = rows > 1 ? (picture.height() - high) * row / (rows - 1) : 0;
      for (int j = 0; j < high; ++j) {
        read_levels(picture, y + j, x, wide, levels.data());
        for (const std::uint8_t value : levels) {
          ++counts[value];
          sum += value;
        }
      }
      for (const std::uint8_t value :
           reader.take(picture, PatchReader::unit_gain, x, y, wide, high).values)
        differences += static_cast<std::size_t>(std::abs(value - Patch::zero));
      pixels += levels.size() * static_cast<std::size_t>(high);
    }
  const auto per_pixel = [&](std::size_t part) {
    return static_cast<double>(part) / static_cast<double>(pixels);
  };
  int highest = 255;
  while (highest > 0 && counts[highest] == 0)
    --highest;
  Exposure exposure;
  exposure.mean = per_pixel(sum);
  exposure.contrast = per_pixel(differences);
  if (highest >= lowest_white)
    exposure.saturated = per_pixel(counts[highest] + counts[highest - 1]);
  exposure.black = per_pixel(std::accumulate(counts, counts + highest_black + 1, std::size_t{0}));
  return exposure;
}

int gain_for(const Exposure& exposure, const Exposure& other) {
  const double ratio = exposure.contrast > 0 ? other.contrast / exposure.contrast : 1;
  if (ratio < equal_contrasts)
    return PatchReader::unit_gain;
  return static_cast<int>(std::lround(PatchReader::unit_gain * std::min(ratio, largest_gain)));
}

}  // namespace cudavision::rig
