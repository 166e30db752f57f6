// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/kernels/sgm/sgm_definition.h"
#include "tests/kernels/sgm/sgm_definition_pixels.h"

namespace cudavision::test {
namespace {

using sgm::StageConfig;

int top_of(const StageConfig& config) {
  return 16 * (config.disparities - 1);
}

bool is_known(const StageConfig& config, const Map& map, int x, int y) {
  return inside(config, x, y) && map[place(config, x, y)] != unknown;
}

long long floored(long long number, long long divisor) {
  const long long quotient = number / divisor;
  return quotient * divisor > number ? quotient - 1 : quotient;
}

/// Extrapolates the value of an invalid pixel, `distance` columns from the valid pixel (x, y).
int continued(const StageConfig& config, const Map& map, int x, int y, int outwards, int distance) {
  const int v = map[place(config, x, y)];
  for (const int n : {32, 16, 8}) {
    int sum = 0, c = 0;
    for (const int j : {-8, -4, 0, 4, 8}) {
      const int middle = x + outwards * n / 2, far = x + outwards * n;
      if (!is_known(config, map, x, y + j) || !is_known(config, map, middle, y + j) ||
          !is_known(config, map, far, y + j))
        continue;
      const int v0 = map[place(config, x, y + j)], v1 = map[place(config, middle, y + j)],
                v2 = map[place(config, far, y + j)];
      if (std::abs(v0 - 2 * v1 + v2) > 8)
        continue;
      sum += v0 - v2;
      ++c;
    }
    if (c > 0)
      return std::clamp(
          v + static_cast<int>(floored(2LL * sum * std::min(distance, 4 * n) + c * n, 2LL * c * n)),
          0, top_of(config));
  }
  return v;
}

Map smoothed_by(const StageConfig& config, const Luminances& picture,
                const std::vector<std::uint8_t>& confidence, const Map& map, int h) {
  Map result = map;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      if (!is_known(config, map, x, y))
        continue;
      const int v = map[place(config, x, y)], pixel = level_at(config, picture, x, y);
      const int cut = std::max(8, 18 - confidence[place(config, x, y)] / 16);
      int s = 0, t = 64;
      for (const int i : {-2 * h, -h, 0, h, 2 * h})
        for (const int j : {-2 * h, -h, 0, h, 2 * h}) {
          const bool is_first = j > 0 || (j == 0 && i > 0);  // visits each pair once
          if (!is_first || !is_known(config, map, x + i, y + j) ||
              !is_known(config, map, x - i, y - j))
            continue;
          const int bend =
              map[place(config, x + i, y + j)] - v + map[place(config, x - i, y - j)] - v;
          const int c = std::abs(bend);
          if (c > 2 * cut)
            continue;
          const int step = std::max(std::abs(pixel - level_at(config, picture, x + i, y + j)),
                                    std::abs(pixel - level_at(config, picture, x - i, y - j)));
          const int w = (64 >> (step / 8)) * (2 * cut + 1 - c) / (2 * cut);
          s += w * bend;
          t += 2 * w;
        }
      result[place(config, x, y)] = static_cast<std::uint16_t>(v + floored(2LL * s + t, 2LL * t));
    }
  return result;
}

}  // namespace

Map defined_sharpening(const StageConfig& config, const Luminances& left, const Luminances& right,
                       const Map& map) {
  Map result = map;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      if (!is_known(config, map, x, y))
        continue;
      long long n = 0, eg = 0, gg = 0, e_sum = 0, g_sum = 0;
      for (int qy = y - 1; qy <= y + 1; ++qy)
        for (int qx = x - 1; qx <= x + 1; ++qx) {
          if (!is_known(config, map, qx, qy))
            continue;
          const int place16 = 16 * (qx - config.minimum) - map[place(config, qx, qy)];
          const int u = static_cast<int>(floored(place16, 16)), f = place16 - 16 * u;
          const int e = 16 * level_at(config, left, qx, qy) -
                        level_at(config, right, u, qy) * (16 - f) -
                        level_at(config, right, u + 1, qy) * f;
          const int g =
              8 * (level_at(config, left, qx + 1, qy) - level_at(config, left, qx - 1, qy));
          ++n;
          e_sum += e;
          g_sum += g;
          eg += e * g;
          gg += g * g;
        }
      const long long a = n * eg - e_sum * g_sum, b = n * gg - g_sum * g_sum + 64 * n * n;
      const int m = static_cast<int>(std::min(4LL, (32 * std::llabs(a) + b) / (2 * b)));
      std::uint16_t& number = result[place(config, x, y)];
      number = static_cast<std::uint16_t>(a > 0 ? std::max(0, number - m)
                                                : std::min(top_of(config), number + m));
    }
  return result;
}

Map defined_slope_filling(const StageConfig& config, const Map& map) {
  Map result = map;
  std::vector<bool> has_known(static_cast<std::size_t>(config.height));
  for (int y = 0; y < config.height; ++y)
    for (int k = 0; k < config.width; ++k) {
      if (is_known(config, map, k, y)) {
        has_known[y] = true;
        continue;
      }
      int l = k, e = k;
      while (l >= 0 && !is_known(config, map, l, y))
        --l;
      while (e < config.width && !is_known(config, map, e, y))
        ++e;
      const bool has_left = l >= 0, has_right = e < config.width;
      if (!has_left && !has_right)
        continue;
      const long long at_l = has_left ? map[place(config, l, y)] : 0,
                      at_e = has_right ? map[place(config, e, y)] : 0;
      std::uint16_t& number = result[place(config, k, y)];
      if (has_left && has_right && std::llabs(at_l - at_e) <= 32)
        number = static_cast<std::uint16_t>((2 * (at_l * (e - k) + at_e * (k - l)) + (e - l)) /
                                            (2 * (e - l)));
      else if (!has_right || (has_left && at_l < at_e))
        number = static_cast<std::uint16_t>(continued(config, map, l, y, -1, k - l));
      else
        number = static_cast<std::uint16_t>(continued(config, map, e, y, 1, e - k));
    }
  fill_empty_rows(config, has_known, result);
  return result;
}

Map defined_refinement_of_filled(const StageConfig& config, const Luminances& picture,
                                 const Map& map, const Map& filled) {
  Map result = defined_refinement(config, picture, filled);
  for (std::size_t i = 0; i < map.size(); ++i)
    if (map[i] != unknown)
      result[i] = filled[i];
  return result;
}

Map defined_smoothing(const StageConfig& config, const Luminances& picture,
                      const std::vector<std::uint8_t>& confidence, const Map& map) {
  Map result = map;
  for (const int h : {8, 4, 2})
    result = smoothed_by(config, picture, confidence, result, h);
  return result;
}

std::vector<std::uint8_t> defined_confidence_after_filling(
    const Map& map, const std::vector<std::uint8_t>& confidence) {
  std::vector<std::uint8_t> result = confidence;
  for (std::size_t i = 0; i < map.size(); ++i)
    if (map[i] == unknown)
      result[i] = 0;
  return result;
}

}  // namespace cudavision::test
