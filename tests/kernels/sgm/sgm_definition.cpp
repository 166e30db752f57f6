// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/sgm_definition.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "tests/kernels/sgm/sgm_definition_pixels.h"

namespace cudavision::test {
namespace {

using sgm::StageConfig;

/// Returns SgmStereo's coding of disparities: sixteenths of a pixel, or whole pixels in libSGM
/// compatibility without subpixel. Invalid disparities are coded as one pixel below the minimum.
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

bool joined(const Map& map, std::size_t a, std::size_t b, int max_step) {
  return map[a] != unknown && map[b] != unknown && std::abs(map[a] - map[b]) <= max_step;
}

std::vector<std::pair<int, int>> known_samples(const StageConfig& config, const Map& map, int x,
                                               int y) {
  std::vector<std::pair<int, int>> samples;
  for (int dy = -4; dy <= 4; dy += 2)
    for (int dx = -4; dx <= 4; dx += 2)
      if (inside(config, x + dx, y + dy) && map[place(config, x + dx, y + dy)] != unknown)
        samples.emplace_back(x + dx, y + dy);
  return samples;
}

void apply_mask(const std::vector<bool>* mask, Map& map) {
  for (std::size_t i = 0; mask && i < map.size(); ++i)
    if ((*mask)[i])
      map[i] = unknown;
}

Map refined_right(const StageConfig& config, const Luminances& picture, const Map& map) {
  Map sixteenths = map;
  for (std::uint16_t& number : sixteenths)
    if (number != unknown)
      number = static_cast<std::uint16_t>(16 * number);
  Map refined = defined_refinement(config, picture, sixteenths);
  for (std::uint16_t& number : refined)
    if (number != unknown)
      number = static_cast<std::uint16_t>((number + 8) / 16);
  return refined;
}

}  // namespace

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

Map defined_refinement(const StageConfig& config, const Luminances& picture, const Map& map) {
  Map result = map;
  const auto i = [&](int x, int y) { return level_at(config, picture, x, y); };
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      if (map[place(config, x, y)] == unknown)
        continue;
      std::vector<std::pair<int, int>> weighted;  // value and weight
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
  std::vector<bool> has_known(static_cast<std::size_t>(config.height));
  for (int y = 0; y < config.height; ++y)
    for (int x = 0; x < config.width; ++x) {
      int before = x, after = x;
      while (before >= 0 && map[place(config, before, y)] == unknown)
        --before;
      while (after < config.width && map[place(config, after, y)] == unknown)
        ++after;
      if (before == x)
        has_known[y] = true;
      std::uint16_t& number = result[place(config, x, y)];
      if (before >= 0 && after < config.width)
        number = std::min(map[place(config, before, y)], map[place(config, after, y)]);
      else if (before >= 0)
        number = map[place(config, before, y)];
      else if (after < config.width)
        number = map[place(config, after, y)];
    }
  fill_empty_rows(config, has_known, result);
  return result;
}

Map defined_over_time(const Map& map, const Map& measured, const sgm::TemporalFilter& filter,
                      DefinedHistory& history) {
  if (history.is_new_scene || history.ages.empty()) {
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
      // The sum is not negative, so sum / 256 equals sum >> 8.
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

static std::vector<std::uint16_t> defined_sums_of(const StageConfig& config,
                                                  const sgm::Parameters& parameters,
                                                  const Luminances& left, const Luminances& right,
                                                  DefinedNoise& noise) {
  const sgm::Penalties penalties = defined_penalties(parameters);
  if (parameters.noise == 0 || config.census != sgm::Parameters::Census::census_gradient)
    return defined_sums(config, left, defined_census(config, left), defined_census(config, right),
                        penalties);
  if (parameters.noise < 0) {
    defined_noise(config, left, noise);
    return defined_sums_under_noise(config, left, right, penalties, noise.variance,
                                    noise.deviation);
  }
  const auto deviation = static_cast<int>(std::floor(16 * parameters.noise + 0.5));
  return defined_sums_under_noise(config, left, right, penalties, deviation * deviation, deviation);
}

DefinedStereo defined_stereo(const StageConfig& config, const sgm::Parameters& given,
                             const Luminances& left, const Luminances& right,
                             DefinedHistory& history, const DefinedMasks& masks) {
  const sgm::Parameters parameters = sgm::resolved(given);
  const bool slants = parameters.slanted_surfaces && !is_libsgm(config);
  const bool refines = parameters.refine && !is_libsgm(config);
  const auto sums = defined_sums_of(config, parameters, left, right, history.noise);
  DefinedWinners winners = defined_winners(config, sums, static_cast<float>(parameters.uniqueness),
                                           sgm::subpixel_of(parameters));
  Map map = winners.left;
  apply_mask(masks.right, winners.right);
  if (parameters.median) {
    map = defined_median(config, map);
    winners.right = defined_median(config, winners.right);
  }
  if (is_libsgm(config) || parameters.lr_max_diff >= 0) {
    if (slants)
      winners.right = refined_right(config, right, winners.right);
    map = defined_check(config, left, map, winners.right, parameters.subpixel,
                        parameters.lr_max_diff);
  }
  apply_mask(masks.left, map);
  const sgm::DisparityScale scale = defined_scale(parameters);
  if (parameters.speckle_size > 0)
    map = defined_without_speckles(config, map, parameters.speckle_size,
                                   parameters.speckle_range * scale.per_pixel);
  DefinedStereo result;
  result.confidence = defined_confidence(config, map, winners.confidence);
  if (parameters.confidence_threshold > 0)
    map = defined_confident(map, parameters.confidence_threshold, result.confidence);
  const Map measured = map;
  if (slants) {
    if (refines && parameters.subpixel)
      map = defined_sharpening(config, left, right, map);
    if (refines)
      map = defined_refinement(config, left, map);
    if (parameters.fill_holes) {
      const Map filled = defined_slope_filling(config, map);
      map = refines ? defined_refinement_of_filled(config, left, map, filled) : filled;
      apply_mask(masks.left, map);
    }
    if (refines && parameters.subpixel)
      map = defined_smoothing(config, left,
                              defined_confidence_after_filling(measured, winners.confidence), map);
  } else {
    if (parameters.fill_holes)
      map = defined_filling(config, map);
    apply_mask(masks.left, map);
    if (refines)
      map = defined_refinement(config, left, map);
  }
  if (parameters.temporal_alpha < 511.0 / 512 || parameters.temporal_persistence > 0)
    map = defined_over_time(map, measured, defined_temporal_filter(parameters), history);
  result.disparities = defined_disparities(config, map, scale);
  return result;
}

int defined_depth(const sgm::Parameters& parameters, const sgm::PictureParameters& picture,
                  std::uint16_t number) {
  const sgm::DisparityScale scale = defined_scale(parameters);
  const int v = static_cast<std::int16_t>(number);
  if (number == scale.invalid || v <= 0)
    return 0;
  // The result is clamped to 65535, so the product may be clamped, too.
  const long long k = std::llround(
      std::min(1e12, scale.per_pixel * picture.focal_length * picture.baseline / picture.unit));
  return static_cast<int>(std::min(65535LL, (2 * k + v) / (2 * v)));
}

}  // namespace cudavision::test
