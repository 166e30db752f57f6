// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/sgm_definition.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace cudavision::test {
namespace {

using Census = sgm::Parameters::Census;
using sgm::StageConfig;
using sgm::Subpixel;

constexpr std::uint16_t unknown = 0xFFFF;

bool is_libsgm(const StageConfig& config) {
  return config.compatibility == sgm::Parameters::Compatibility::libsgm;
}

bool inside(const StageConfig& config, int x, int y) {
  return x >= 0 && x < config.width && y >= 0 && y < config.height;
}

std::size_t place(const StageConfig& config, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(config.width) +
         static_cast<std::size_t>(x);
}

std::size_t volume_place(const StageConfig& config, int x, int y, int d) {
  return place(config, x, y) * static_cast<std::size_t>(config.disparities) +
         static_cast<std::size_t>(d);
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
  if (config.census == Census::census_gradient) {
    const auto i = [&](int dx, int dy) { return at(x + dx, y + dy) >> (config.bits - 8); };
    int mean = 8, sx = 0, sy = 0, dxx = 0;
    for (int k = -1; k <= 1; ++k) {
      const int weight = 2 - std::abs(k);
      for (int j = -1; j <= 1; ++j)
        mean += weight * (2 - std::abs(j)) * i(k, j);
      sx += weight * (i(1, k) - i(-1, k));
      sy += weight * (i(k, 1) - i(k, -1));
      dxx += weight * (2 * i(0, k) - i(-2, k) - i(2, k));
    }
    mean >>= 4;
    const std::pair<int, int> offsets[] = {{-1, -3}, {1, -3}, {-2, -2}, {0, -2}, {2, -2}, {-5, -1},
                                           {5, -1},  {-2, 0}, {2, 0},   {-5, 1}, {5, 1},  {-2, 2},
                                           {0, 2},   {2, 2},  {-1, 3},  {1, 3}};
    for (const auto& [dx, dy] : offsets)
      add(mean > i(dx, dy));
    for (const int threshold : {19, 11, 5, 1, -2, -6, -12, -20})
      add(sx > threshold);
    for (const int threshold : {9, 3, -3, -9})
      add(sy > threshold);
    for (const int threshold : {12, 4, -4, -12})
      add(dxx > threshold);
    return bits;
  }
  const bool large = config.census == Census::neighbours_9x7;
  for (int dy = large ? -3 : -2; dy <= (large ? 3 : 2); ++dy)
    for (int dx = large ? -4 : -2; dx <= (large ? 4 : 2); ++dx)
      if (dx != 0 || dy != 0)
        add(at(x, y) > at(x + dx, y + dy));
  return bits;
}

int bits_in(std::uint64_t word) {
  int count = 0;
  for (; word != 0; word >>= 1)
    count += static_cast<int>(word & 1);
  return count;
}

/// Returns the numbers from 0 to size − 1 in ascending or descending order.
std::vector<int> in_order(int size, bool forwards) {
  std::vector<int> order;
  for (int i = 0; i < size; ++i)
    order.push_back(forwards ? i : size - 1 - i);
  return order;
}

/// Returns the step between two luminances in levels of 8 bits.
int step_of(const StageConfig& config, int a, int b) {
  const int shift = config.bits - 8;
  return config.census == Census::census_gradient ? std::abs((a >> shift) - (b >> shift))
                                                  : std::abs(a - b) >> shift;
}

/// Computes the costs of the path in direction (dx, dy).
std::vector<int> path_costs(const StageConfig& config, const Luminances& picture,
                            const std::vector<int>& matching, const sgm::Penalties& penalties,
                            int dx, int dy) {
  std::vector<int> costs(matching.size());
  for (const int y : in_order(config.height, dy >= 0))
    for (const int x : in_order(config.width, dx >= 0)) {
      const bool first = !inside(config, x - dx, y - dy);
      int p2 = 0, minimum = 0;
      const int* before = nullptr;
      if (!first) {
        p2 = penalties.p2[static_cast<std::size_t>(
            step_of(config, picture[place(config, x, y)], picture[place(config, x - dx, y - dy)]))];
        before = &costs[volume_place(config, x - dx, y - dy, 0)];
        minimum = *std::min_element(before, before + config.disparities);
      }
      for (int d = 0; d < config.disparities; ++d) {
        const std::size_t here = volume_place(config, x, y, d);
        costs[here] = matching[here];
        if (first)
          continue;
        int added = std::min(before[d] - minimum, p2);
        if (d > 0)
          added = std::min(added, before[d - 1] - minimum + penalties.p1);
        if (d < config.disparities - 1)
          added = std::min(added, before[d + 1] - minimum + penalties.p1);
        costs[here] += added;
      }
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

/// Returns SgmStereo's coding of disparities. They are in sixteenths of a pixel, or in pixels like
/// libSGM's without subpixel. An unknown disparity is coded as the one below the least.
sgm::DisparityScale defined_scale(const sgm::Parameters& parameters) {
  const bool libsgm = parameters.compatibility == sgm::Parameters::Compatibility::libsgm;
  const int per_pixel = libsgm && !parameters.subpixel ? 1 : 16;
  return {per_pixel, static_cast<std::uint16_t>((parameters.minimum - 1) * per_pixel)};
}

sgm::TemporalFilter defined_temporal_filter(const sgm::Parameters& parameters) {
  return {static_cast<int>(std::nearbyint(parameters.temporal_alpha * 256)),
          defined_scale(parameters).per_pixel * parameters.temporal_delta,
          parameters.temporal_persistence};
}

/// True if the disparities of two neighbouring pixels are known and differ by at most max_step.
bool joined(const Map& map, std::size_t a, std::size_t b, int max_step) {
  return map[a] != unknown && map[b] != unknown && std::abs(map[a] - map[b]) <= max_step;
}

/// Returns the pixels every other row and column around (x, y) whose disparity is known.
std::vector<std::pair<int, int>> known_samples(const StageConfig& config, const Map& map, int x,
                                               int y) {
  std::vector<std::pair<int, int>> samples;
  for (int dy = -4; dy <= 4; dy += 2)
    for (int dx = -4; dx <= 4; dx += 2)
      if (inside(config, x + dx, y + dy) && map[place(config, x + dx, y + dy)] != unknown)
        samples.emplace_back(x + dx, y + dy);
  return samples;
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
    penalties.p2[static_cast<std::size_t>(step)] = static_cast<std::uint8_t>(p2);
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
        matching.push_back(bits_in(left[place(config, x, y)] ^ met));
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

Map defined_median(const StageConfig& config, const Map& map) {
  Map result;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      if (x == 0 || y == 0 || x == config.width - 1 || y == config.height - 1) {
        result.push_back(is_libsgm(config) ? 0 : unknown);
        continue;
      }
      Map around;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          around.push_back(map[place(config, x + dx, y + dy)]);
      std::sort(around.begin(), around.end());
      result.push_back(around[4]);
    }
  return result;
}

Map defined_check(const StageConfig& config, const Luminances& picture, const Map& left,
                  const Map& right, bool subpixel, int max_diff) {
  Map result = left;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      std::uint16_t& number = result[place(config, x, y)];
      if (number == unknown)
        continue;
      const int d = is_libsgm(config) ? (subpixel ? number >> 4 : number) : (number + 8) >> 4;
      const int k = x - d - (is_libsgm(config) ? 0 : config.minimum);
      const bool has_other = inside(config, k, y);
      const int other = has_other ? right[place(config, k, y)] : 0;
      const bool differs = has_other && std::abs(other - d) > max_diff;
      if (is_libsgm(config)) {
        if (picture[place(config, x, y)] == 0 || (max_diff >= 0 && differs))
          number = unknown;
      } else if (!has_other || other == unknown || differs) {
        number = unknown;
      }
    }
  return result;
}

Map defined_without_speckles(const StageConfig& config, const Map& map, int size, int max_step) {
  Map result = map;
  std::vector<bool> seen(map.size(), false);
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      if (seen[place(config, x, y)] || map[place(config, x, y)] == unknown)
        continue;
      std::vector<std::pair<int, int>> region{{x, y}};
      seen[place(config, x, y)] = true;
      for (std::size_t i = 0; i < region.size(); ++i) {
        const auto [px, py] = region[i];
        const std::pair<int, int> around[] = {
            {px - 1, py}, {px + 1, py}, {px, py - 1}, {px, py + 1}};
        for (const auto& [qx, qy] : around)
          if (inside(config, qx, qy) && !seen[place(config, qx, qy)] &&
              joined(map, place(config, px, py), place(config, qx, qy), max_step)) {
            seen[place(config, qx, qy)] = true;
            region.emplace_back(qx, qy);
          }
      }
      if (region.size() <= static_cast<std::size_t>(size))
        for (const auto& [px, py] : region)
          result[place(config, px, py)] = unknown;
    }
  return result;
}

std::vector<std::uint8_t> defined_confidence(const StageConfig& config, const Map& map,
                                             const std::vector<std::uint8_t>& confidence) {
  std::vector<std::uint8_t> result;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      const int v = map[place(config, x, y)], a = confidence[place(config, x, y)];
      int n = 0;
      for (const auto& [qx, qy] : known_samples(config, map, x, y))
        n += std::abs(map[place(config, qx, qy)] - v) <= 16;
      const int whole = is_libsgm(config) ? a : (a * (n + 1) + 13) / 26;
      result.push_back(static_cast<std::uint8_t>(v == unknown ? 0 : whole));
    }
  return result;
}

Map defined_confident(const Map& map, int threshold, std::vector<std::uint8_t>& confidence) {
  Map result = map;
  for (std::size_t i = 0; i < map.size(); ++i)
    if (confidence[i] < threshold) {
      result[i] = unknown;
      confidence[i] = 0;
    }
  return result;
}

bool defined_scene_cut(const StageConfig& config, const Luminances& picture,
                       std::vector<int>& scene_samples) {
  const int columns = std::min(config.width, 64), rows = std::min(config.height, 64);
  std::vector<int> samples;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i)
      samples.push_back(picture[place(config, (2 * i + 1) * config.width / (2 * columns),
                                      (2 * j + 1) * config.height / (2 * rows))] >>
                        (config.bits - 8));
  const std::vector<int> before = std::exchange(scene_samples, samples);
  if (before.empty())
    return true;
  int sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    sum += std::abs(samples[i] - before[i]);
  return sum > 24 * columns * rows;
}

Map defined_refinement(const StageConfig& config, const Luminances& picture, const Map& map) {
  Map result = map;
  const auto i = [&](int x, int y) { return picture[place(config, x, y)] >> (config.bits - 8); };
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      if (map[place(config, x, y)] == unknown)
        continue;
      std::vector<std::pair<int, int>> weighted;  // number, weight
      int total = 0;
      for (const auto& [qx, qy] : known_samples(config, map, x, y)) {
        const int weight = 64 >> (std::abs(i(x, y) - i(qx, qy)) >> 3);
        weighted.emplace_back(map[place(config, qx, qy)], weight);
        total += weight;
      }
      std::sort(weighted.begin(), weighted.end());
      int sum = 0;
      for (const auto& [number, weight] : weighted) {
        sum += weight;
        if (2 * sum >= total) {
          result[place(config, x, y)] = static_cast<std::uint16_t>(number);
          break;
        }
      }
    }
  return result;
}

Map defined_filling(const StageConfig& config, const Map& map) {
  Map result = map;
  const auto row_is_empty = [&](int y) {
    const auto row = map.begin() + static_cast<std::ptrdiff_t>(place(config, 0, y));
    return std::all_of(row, row + config.width, [](std::uint16_t v) { return v == unknown; });
  };
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      int before = x, after = x;
      while (before >= 0 && map[place(config, before, y)] == unknown)
        --before;
      while (after < config.width && map[place(config, after, y)] == unknown)
        ++after;
      std::uint16_t& number = result[place(config, x, y)];
      if (before >= 0 && after < config.width)
        number = std::min(map[place(config, before, y)], map[place(config, after, y)]);
      else if (before >= 0)
        number = map[place(config, before, y)];
      else if (after < config.width)
        number = map[place(config, after, y)];
    }
  for (int y = 0; y < config.height; ++y) {
    if (!row_is_empty(y))
      continue;
    int from = y;
    while (from >= 0 && row_is_empty(from))
      --from;
    if (from < 0)
      for (from = y; from < config.height && row_is_empty(from);)
        ++from;
    if (from < config.height)
      for (int x = 0; x < config.width; ++x)
        result[place(config, x, y)] = result[place(config, x, from)];
  }
  return result;
}

Map defined_over_time(const Map& map, const Map& measured, const sgm::TemporalFilter& filter,
                      bool is_new_scene, DefinedHistory& history) {
  if (is_new_scene) {
    history.numbers.assign(map.size(), unknown);
    history.ages.assign(map.size(), 0);
  }
  for (std::size_t i = 0; i < map.size(); ++i) {
    const bool is_measured = map[i] != unknown && measured[i] != unknown;
    std::uint16_t& h = history.numbers[i];
    int& n = history.ages[i];
    if (h != unknown && n < filter.persistence && !is_measured) {
      ++n;
    } else if (map[i] != unknown) {
      // The sum is not negative, so the shift is a division.
      const bool smooths = h != unknown && std::abs(map[i] - h) <= filter.max_step;
      const int sum = filter.weight * map[i] + (256 - filter.weight) * h + 128;
      h = smooths ? static_cast<std::uint16_t>(sum / 256) : map[i];
      n = is_measured ? 0 : 255;
    } else {
      h = unknown;
      n = 0;
    }
  }
  return history.numbers;
}

Map defined_disparities(const StageConfig& config, const Map& map,
                        const sgm::DisparityScale& scale) {
  Map result;
  for (const std::uint16_t number : map)
    result.push_back(number == unknown
                         ? scale.invalid
                         : static_cast<std::uint16_t>(number + config.minimum * scale.per_pixel));
  return result;
}

DefinedStereo defined_stereo(const StageConfig& config, const sgm::Parameters& parameters,
                             const Luminances& left, const Luminances& right) {
  DefinedHistory history;
  return defined_stereo(config, parameters, left, right, history);
}

DefinedStereo defined_stereo(const StageConfig& config, const sgm::Parameters& given,
                             const Luminances& left, const Luminances& right,
                             DefinedHistory& history) {
  const sgm::Parameters parameters = sgm::resolved(given);
  const auto sums = defined_sums(config, left, defined_census(config, left),
                                 defined_census(config, right), defined_penalties(parameters));
  DefinedWinners winners = defined_winners(config, sums, static_cast<float>(parameters.uniqueness),
                                           sgm::subpixel_of(parameters));
  if (parameters.median) {
    winners.left = defined_median(config, winners.left);
    winners.right = defined_median(config, winners.right);
  }
  if (is_libsgm(config) || parameters.lr_max_diff >= 0)
    winners.left = defined_check(config, left, winners.left, winners.right, parameters.subpixel,
                                 parameters.lr_max_diff);
  const sgm::DisparityScale scale = defined_scale(parameters);
  if (parameters.speckle_size > 0)
    winners.left = defined_without_speckles(config, winners.left, parameters.speckle_size,
                                            parameters.speckle_range * scale.per_pixel);
  DefinedStereo result;
  result.confidence = defined_confidence(config, winners.left, winners.confidence);
  if (parameters.confidence_threshold > 0)
    winners.left =
        defined_confident(winners.left, parameters.confidence_threshold, result.confidence);
  const Map measured = winners.left;
  if (parameters.fill_holes)
    winners.left = defined_filling(config, winners.left);
  if (parameters.refine && !is_libsgm(config))
    winners.left = defined_refinement(config, left, winners.left);
  if (parameters.temporal_alpha < 511.0 / 512 || parameters.temporal_persistence > 0)
    winners.left =
        defined_over_time(winners.left, measured, defined_temporal_filter(parameters),
                          defined_scene_cut(config, left, history.scene_samples), history);
  result.disparities = defined_disparities(config, winners.left, scale);
  return result;
}

int defined_gray(const sgm::Parameters& parameters, std::uint16_t number) {
  const sgm::DisparityScale scale = defined_scale(parameters);
  if (number == scale.invalid)
    return 0;
  const int n = static_cast<std::int16_t>(number) - scale.per_pixel * parameters.minimum;
  const int whole = scale.per_pixel * (parameters.disparities - 1);
  return std::min(255, 1 + (254 * n + whole / 2) / whole);
}

int defined_depth(const sgm::Parameters& parameters, const sgm::PictureParameters& picture,
                  std::uint16_t number) {
  const sgm::DisparityScale scale = defined_scale(parameters);
  const int v = static_cast<std::int16_t>(number);
  if (number == scale.invalid || v <= 0)
    return 0;
  const long long k =
      std::llround(scale.per_pixel * picture.focal_length * picture.baseline / picture.unit);
  return static_cast<int>(std::min(65535LL, (2 * k + v) / (2 * v)));
}

}  // namespace cudavision::test
