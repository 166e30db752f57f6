// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of the stages that adapt the matching to noise.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "tests/kernels/sgm/sgm_definition.h"
#include "tests/kernels/sgm/sgm_definition_pixels.h"

namespace cudavision::test {
namespace {

using sgm::StageConfig;

int block_sum(const StageConfig& config, const Luminances& picture, int left, int top,
              int distance) {
  int sum = 0;
  for (int y = top; y < top + 8; ++y)
    for (int x = left; x < left + 8; ++x) {
      int n = 0;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
          n += (i == 0 ? -2 : 1) * (j == 0 ? -2 : 1) *
               level_at(config, picture, x + distance * i, y + distance * j);
      sum += std::abs(n);
    }
  return sum;
}

bool is_flat_line(const StageConfig& config, const Luminances& picture, int x, int y, int dx,
                  int dy) {
  for (int i = 1; i < 8; ++i)
    if (level_at(config, picture, x + dx * i, y + dy * i) != level_at(config, picture, x, y))
      return false;
  return true;
}

bool is_flat(const StageConfig& config, const Luminances& picture, int left, int top) {
  return block_sum(config, picture, left, top, 1) == 0 ||
         is_flat_line(config, picture, left, top - 3, 1, 0) ||
         is_flat_line(config, picture, left, top + 10, 1, 0) ||
         is_flat_line(config, picture, left - 3, top, 0, 1) ||
         is_flat_line(config, picture, left + 10, top, 0, 1);
}

std::vector<int> block_sums(const StageConfig& config, const Luminances& picture, int distance) {
  std::vector<int> sums;
  const int step = 1 + config.width * config.height / (1 << 19);
  for (int top = 0; top + 8 <= config.height; top += 8) {
    if (top / 16 % step != 0)
      continue;
    for (int left = 0; left + 8 <= config.width; left += 8) {
      int extreme = 0;
      for (int y = top; y < top + 8; ++y)
        for (int x = left; x < left + 8; ++x) {
          const int level = level_at(config, picture, x, y);
          extreme += level < 8 || level > 247;
        }
      if (extreme > 4)
        continue;
      sums.push_back(is_flat(config, picture, left, top)
                         ? -1
                         : block_sum(config, picture, left, top, distance));
    }
  }
  return sums;
}

}  // namespace

int defined_noise_variance(const StageConfig& config, const Luminances& picture) {
  int variance = 0;
  for (const auto& [distance, texture] : {std::pair{1, 440}, {3, 2000}}) {
    std::vector<int> sums = block_sums(config, picture, distance);
    const std::size_t blocks = sums.size();
    std::erase(sums, -1);
    const std::size_t flat = blocks - sums.size();
    if (flat >= 64 && flat > sums.size())
      return 0;
    if (sums.size() < 64)
      return -1;
    std::sort(sums.begin(), sums.end());
    const int t = std::min(sums[sums.size() / 50] / 16, 1023) * 16 + 8;
    variance = std::max(variance, std::min(t * t / 200 - texture, 40000));
  }
  return variance;
}

void defined_noise(const StageConfig& config, const Luminances& picture, DefinedNoise& noise) {
  const int variance = defined_noise_variance(config, picture);
  if (variance < 0)
    return;
  noise.measured = variance;
  const bool first = noise.average < 0;
  if (first)
    noise.average = 256 * variance;
  else
    noise.average += static_cast<int>(std::floor((256 * variance - noise.average) / 8.0));
  const int mean = (noise.average + 128) / 256;
  if (first || std::abs(mean - noise.variance) > 64 + noise.variance / 4) {
    noise.variance = mean;
    noise.deviation = 0;
    while ((noise.deviation + 1) * (noise.deviation + 1) <= mean)
      ++noise.deviation;
  }
}

Luminances defined_filtering(const StageConfig& config, const Luminances& picture, int variance) {
  const long long noise = 625LL * variance / 256;
  Luminances filtered;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      long long sum = 0, squares = 0;
      for (int j = -2; j <= 2; ++j)
        for (int i = -2; i <= 2; ++i) {
          const int level = level_at(config, picture, x + i, y + j);
          sum += level;
          squares += level * level;
        }
      const long long v = 25 * squares - sum * sum;
      const long long a = v > noise ? (v - noise) * 256 / v : 0;
      filtered.push_back(static_cast<std::uint16_t>(
          8 + (25 * a * level_at(config, picture, x, y) + sum * (256 - a) + 200) / 400));
    }
  return filtered;
}

std::vector<std::uint64_t> defined_filtered_census(const StageConfig& config,
                                                   const Luminances& filtered, int deviation) {
  std::vector<std::uint64_t> features;
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      const auto f = [&](int dx, int dy) -> int {
        return filtered[place(config, std::clamp(x + dx, 0, config.width - 1),
                              std::clamp(y + dy, 0, config.height - 1))];
      };
      features.push_back(gradient_feature(f, 16, [=](int sum, int sample) {
        return 16 * (sum / 256) > sample + 13 * deviation / 32 - 8;
      }));
    }
  return features;
}

sgm::Penalties defined_noisy_penalties(sgm::Penalties penalties, int deviation) {
  penalties.p1 = std::min(penalties.p1 + std::min(6, (deviation + 4) / 8), penalties.p2[0] - 1);
  for (std::uint8_t& p2 : penalties.p2)
    p2 = static_cast<std::uint8_t>(std::max<int>(p2, penalties.p1 + 1));
  return penalties;
}

std::vector<std::uint16_t> defined_sums_under_noise(const StageConfig& config,
                                                    const Luminances& left, const Luminances& right,
                                                    const sgm::Penalties& penalties, int variance,
                                                    int deviation) {
  const Luminances filtered = defined_filtering(config, left, variance);
  StageConfig of_filtered = config;
  of_filtered.bits = 12;
  return defined_sums(
      of_filtered, filtered, defined_filtered_census(config, filtered, deviation),
      defined_filtered_census(config, defined_filtering(config, right, variance), deviation),
      defined_noisy_penalties(penalties, deviation));
}

}  // namespace cudavision::test
