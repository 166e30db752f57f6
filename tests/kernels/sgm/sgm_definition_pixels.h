// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cuda/sgm/backend.h"
#include "tests/kernels/sgm/sgm_definition.h"

/// Access to pixels, for all files of the definition.
namespace cudavision::test {

/// Marks a pixel without a valid disparity.
inline constexpr std::uint16_t unknown = 0xFFFF;

inline bool is_libsgm(const sgm::StageConfig& config) {
  return config.compatibility == sgm::Parameters::Compatibility::libsgm;
}

inline bool inside(const sgm::StageConfig& config, int x, int y) {
  return x >= 0 && x < config.width && y >= 0 && y < config.height;
}

inline std::size_t place(const sgm::StageConfig& config, int x, int y) {
  return static_cast<std::size_t>(y) * config.width + x;
}

/// Returns the luminance in 8-bit levels. Beyond the edges, the outermost pixels are repeated.
inline int level_at(const sgm::StageConfig& config, const Luminances& picture, int x, int y) {
  return picture[place(config, std::clamp(x, 0, config.width - 1),
                       std::clamp(y, 0, config.height - 1))] >>
         (config.bits - 8);
}

/// Computes census_gradient. at(dx, dy) returns a sample in 1/`unit` levels. exceeds(sum, sample)
/// compares the weighted mean, sum / 16, with a neighbour's sample.
template <class At, class Exceeds>
std::uint64_t gradient_feature(const At& at, int unit, const Exceeds& exceeds) {
  int sum = 0, sx = 0, sy = 0, dxx = 0;
  for (int k = -1; k <= 1; ++k) {
    const int weight = 2 - std::abs(k);
    for (int j = -1; j <= 1; ++j)
      sum += weight * (2 - std::abs(j)) * at(k, j);
    sx += weight * (at(1, k) - at(-1, k));
    sy += weight * (at(k, 1) - at(k, -1));
    dxx += weight * (2 * at(0, k) - at(-2, k) - at(2, k));
  }
  std::uint64_t bits = 0;
  const auto add = [&](bool bit) { bits = bits << 1 | (bit ? 1 : 0); };
  const std::pair<int, int> offsets[] = {{-1, -3}, {1, -3}, {-2, -2}, {0, -2}, {2, -2}, {-5, -1},
                                         {5, -1},  {-2, 0}, {2, 0},   {-5, 1}, {5, 1},  {-2, 2},
                                         {0, 2},   {2, 2},  {-1, 3},  {1, 3}};
  for (const auto& [dx, dy] : offsets)
    add(exceeds(sum, at(dx, dy)));
  for (const int threshold : {19, 11, 5, 1, -2, -6, -12, -20})
    add(sx > unit * threshold);
  for (const int threshold : {9, 3, -3, -9})
    add(sy > unit * threshold);
  for (const int threshold : {12, 4, -4, -12})
    add(dxx > unit * threshold);
  return bits;
}

/// Replaces rows without valid values by the nearest row with valid values, if possible from above.
inline void fill_empty_rows(const sgm::StageConfig& config, const std::vector<bool>& has_known,
                            Map& map) {
  const auto is_empty = [&](int y) { return !has_known[y]; };
  for (int y = 0; y < config.height; ++y) {
    int from = y;
    while (from >= 0 && is_empty(from))
      --from;
    if (from < 0)
      for (from = y; from < config.height && is_empty(from);)
        ++from;
    if (from != y && from < config.height)
      for (int x = 0; x < config.width; ++x)
        map[place(config, x, y)] = map[place(config, x, from)];
  }
}

}  // namespace cudavision::test
