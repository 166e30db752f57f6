// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "tests/kernels/sgm/sgm_definition.h"
#include "tests/kernels/sgm/sgm_definition_pixels.h"

namespace cudavision::test {
namespace {

using Census = sgm::Parameters::Census;
using sgm::StageConfig;
using sgm::Subpixel;

std::size_t volume_place(const StageConfig& config, int x, int y, int d) {
  return place(config, x, y) * config.disparities + d;
}

std::uint64_t feature(const StageConfig& config, const Luminances& picture, int x, int y) {
  const auto at = [&](int px, int py) {
    return picture[place(config, std::clamp(px, 0, config.width - 1),
                         std::clamp(py, 0, config.height - 1))];
  };
  std::uint64_t bits = 0;
  const auto add = [&](bool bit) { bits = bits << 1 | (bit ? 1 : 0); };
  if (config.census == Census::symmetric_9x7) {
    for (int dy = -3; dy <= -1; ++dy)
      for (int dx = -4; dx <= 4; ++dx)
        add(at(x + dx, y + dy) > at(x - dx, y - dy));
    for (int dx = -4; dx <= -1; ++dx)
      add(at(x + dx, y) > at(x - dx, y));
    return bits;
  }
  if (config.census == Census::census_gradient)
    return gradient_feature(
        [&](int dx, int dy) { return level_at(config, picture, x + dx, y + dy); }, 1,
        [](int sum, int level) { return (sum + 8) >> 4 > level; });
  const bool large = config.census == Census::neighbours_9x7;
  for (int dy = large ? -3 : -2; dy <= (large ? 3 : 2); ++dy)
    for (int dx = large ? -4 : -2; dx <= (large ? 4 : 2); ++dx)
      if (dx != 0 || dy != 0)
        add(at(x, y) > at(x + dx, y + dy));
  return bits;
}

std::vector<int> in_order(int size, bool forwards) {
  std::vector<int> order;
  for (int i = 0; i < size; ++i)
    order.push_back(forwards ? i : size - 1 - i);
  return order;
}

int step_of(const StageConfig& config, int a, int b) {
  const int shift = config.bits - 8;
  return config.census == Census::census_gradient ? std::abs((a >> shift) - (b >> shift))
                                                  : std::abs(a - b) >> shift;
}

std::vector<int> path_costs(const StageConfig& config, const Luminances& picture,
                            const std::vector<int>& matching, const sgm::Penalties& penalties,
                            int dx, int dy) {
  std::vector<int> costs = matching, added(static_cast<std::size_t>(config.disparities));
  for (const int y : in_order(config.height, dy >= 0))
    for (const int x : in_order(config.width, dx >= 0)) {
      if (!inside(config, x - dx, y - dy))
        continue;
      const int p2 = penalties.p2[static_cast<std::size_t>(
          step_of(config, picture[place(config, x, y)], picture[place(config, x - dx, y - dy)]))];
      const int* before = &costs[volume_place(config, x - dx, y - dy, 0)];
      int* here = &costs[volume_place(config, x, y, 0)];
      int minimum = before[0];
      for (std::size_t d = 1; d < added.size(); ++d)
        minimum = std::min(minimum, before[d]);
      // One loop per term of the minimum, so that the compiler can vectorise the loops.
      for (std::size_t d = 0; d < added.size(); ++d)
        added[d] = std::min(before[d] - minimum, p2);
      for (std::size_t d = 1; d < added.size(); ++d)
        added[d] = std::min(added[d], before[d - 1] - minimum + penalties.p1);
      for (std::size_t d = 0; d + 1 < added.size(); ++d)
        added[d] = std::min(added[d], before[d + 1] - minimum + penalties.p1);
      for (std::size_t d = 0; d < added.size(); ++d)
        here[d] += added[d];
    }
  return costs;
}

int subpixel_part(int l, int c, int r, Subpixel subpixel) {
  const int den = subpixel == Subpixel::equiangular ? std::max(l, r) - c : l - 2 * c + r;
  if (subpixel == Subpixel::none || den == 0)
    return 0;
  if (subpixel == Subpixel::libsgm)
    return ((l - r) * 16 + den) / (2 * den);
  const int size = (16 * std::abs(l - r) + den) / (2 * den);
  return l < r ? -size : size;
}

}  // namespace

std::vector<std::uint64_t> defined_census(const StageConfig& config, const Luminances& picture) {
  std::vector<std::uint64_t> features;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      const bool border = x < 4 || x >= config.width - 4 || y < 3 || y >= config.height - 3;
      features.push_back(is_libsgm(config) && border ? 0 : feature(config, picture, x, y));
    }
  return features;
}

sgm::Penalties defined_penalties(const sgm::Parameters& given) {
  const sgm::Parameters parameters = sgm::resolved(given);
  sgm::Penalties penalties;
  penalties.p1 = parameters.p1;
  for (int step = 0; step < 256; ++step) {
    int p2 = parameters.p2;
    if (parameters.adaptive_p2 && parameters.compatibility == sgm::Parameters::Compatibility::none)
      p2 = std::max(parameters.p1 + 1, 16 * parameters.p2 / (16 + step));
    penalties.p2[step] = static_cast<std::uint8_t>(p2);
  }
  return penalties;
}

std::vector<std::uint16_t> defined_sums(const StageConfig& config, const Luminances& picture,
                                        const std::vector<std::uint64_t>& left,
                                        const std::vector<std::uint64_t>& right,
                                        const sgm::Penalties& penalties) {
  std::vector<int> matching;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x)
      for (int d = 0; d < config.disparities; ++d) {
        const int other = x - d - config.minimum;
        const int nearest = std::clamp(other, 0, config.width - 1);
        const bool exists = other == nearest || config.census == Census::census_gradient;
        const std::uint64_t met = exists ? right[place(config, nearest, y)] : 0;
        matching.push_back(std::popcount(left[place(config, x, y)] ^ met));
      }
  constexpr int directions[8][2] = {{0, 1}, {0, -1}, {1, 0},  {-1, 0},
                                    {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  std::vector<std::uint16_t> sums(matching.size(), 0);
  for (int path = 0; path < config.paths; ++path) {
    const auto costs =
        path_costs(config, picture, matching, penalties, directions[path][0], directions[path][1]);
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] = static_cast<std::uint16_t>(sums[i] + costs[i]);
  }
  return sums;
}

DefinedWinners defined_winners(const StageConfig& config, const std::vector<std::uint16_t>& sums,
                               float uniqueness, Subpixel subpixel) {
  DefinedWinners winners;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      const auto sum = [&](int d) -> int { return sums[volume_place(config, x, y, d)]; };
      int best = 0, second = 65535;
      for (int d = 1; d < config.disparities; ++d)
        if (sum(d) < sum(best))
          best = d;
      bool unique = true;
      for (int d = 0; d < config.disparities; ++d)
        if (std::abs(d - best) > 1) {
          second = std::min(second, sum(d));
          const float lowered = static_cast<float>(sum(d)) * uniqueness;
          unique = unique && !(lowered < static_cast<float>(sum(best)));
        }
      int number = is_libsgm(config) && subpixel == Subpixel::none ? best : 16 * best;
      if (best > 0 && best < config.disparities - 1)
        number += subpixel_part(sum(best - 1), sum(best), sum(best + 1), subpixel);
      winners.left.push_back(unique ? static_cast<std::uint16_t>(number) : unknown);
      const int confidence = second == 0 ? 0 : ((second - sum(best)) * 255 + second / 2) / second;
      winners.confidence.push_back(static_cast<std::uint8_t>(unique ? confidence : 0));

      std::uint16_t right = unknown;
      int right_min = 65536;
      for (int d = 0; d < config.disparities; ++d) {
        const int from = x + d + (is_libsgm(config) ? 0 : config.minimum);
        if (inside(config, from, y) && sums[volume_place(config, from, y, d)] < right_min) {
          right_min = sums[volume_place(config, from, y, d)];
          right = static_cast<std::uint16_t>(d);
        }
      }
      winners.right.push_back(right);
    }
  return winners;
}

}  // namespace cudavision::test
