// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/stages/sgm_stage_case.h"

#include <algorithm>

#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using sgm::StageConfig;

std::uint64_t feature_mask(const StageConfig& config) {
  return (std::uint64_t{1} << sgm::census_bits(config.census)) - 1;
}

/// Right features are random, or left features of nearby pixels with some bits flipped.
void make_features(SgmStageCase& test, Random& random) {
  const std::uint64_t mask = feature_mask(test.config);
  const bool alike = random.one_in(2), flat = random.one_in(8);
  const auto pixels = static_cast<std::size_t>(test.config.pixels());
  for (std::size_t i = 0; i < pixels; ++i) {
    test.left_features.push_back(flat ? mask * (i % 3 == 0) : random.next() & mask);
    const std::uint64_t noise = random.next() & random.next() & random.next() & mask;
    test.right_features.push_back(alike ? test.left_features[i / 2 * 2] ^ noise
                                        : random.next() & mask);
  }
}

/// Half of the time, draws small penalties, with which path-cost sums fit into bytes.
void make_penalties(SgmStageCase& test, Random& random) {
  const int bits = sgm::census_bits(test.config.census);
  const int largest =
      random.one_in(2) && 4 * bits < 250 ? random.between(2, (255 - 4 * bits) / 2) : 255 - bits;
  test.penalties.p1 = random.one_in(4) ? 1 : random.between(1, largest - 1);
  for (std::uint8_t& p2 : test.penalties.p2)
    p2 = static_cast<std::uint8_t>(
        random.one_in(4) ? largest : random.between(test.penalties.p1 + 1, largest));
}

/// Draws the path-cost sums, often from a small range, which causes many ties.
void make_sums(SgmStageCase& test, Random& random) {
  constexpr int levels[] = {1, 2, 4, 30, 255, 2041};
  const int maximum = levels[random.between(0, 5)] - 1;
  const auto count = static_cast<std::size_t>(test.config.pixels()) * test.config.disparities;
  for (std::size_t i = 0; i < count; ++i)
    test.sums.push_back(static_cast<std::uint16_t>(random.between(0, maximum)));
}

Map random_map(const StageConfig& config, int levels, Random& random) {
  const int holes = random.one_in(4) ? 1 : 1 << random.between(1, 6);
  const bool rough = random.one_in(4);
  const std::uint64_t seed = random.next();
  Map map;
  for (int y = 0; y < config.height; ++y) {
    const bool empty_row = random.one_in(8);
    for (int x = 0; x < config.width; ++x) {
      const auto patch = static_cast<std::uint64_t>(x / 9 + 10000 * (y / 5));
      Random patches(mixed_seed(seed, patch));
      const int level = rough ? random.between(0, levels - 1) : patches.between(0, levels - 1);
      const int number = std::clamp(level + random.between(-2, 2), 0, levels - 1);
      map.push_back(empty_row || random.one_in(holes) ? sgm::unknown
                                                      : static_cast<std::uint16_t>(number));
    }
  }
  return map;
}

void make_maps(SgmStageCase& test, Random& random) {
  const StageConfig& config = test.config;
  const bool libsgm = config.compatibility != sgm::Parameters::Compatibility::none;
  const bool whole = libsgm && !test.has_subpixel();
  const int disparities = random.one_in(2) ? 8 : config.disparities;
  test.left = random_map(config, disparities * (whole ? 1 : 16), random);
  test.right = random_map(config, disparities, random);
  for (const std::uint16_t number : test.left)
    test.confidence.push_back(
        static_cast<std::uint8_t>(number == sgm::unknown ? 99 : random.between(0, 255)));
  test.max_diff = random.one_in(4) && libsgm ? -1 : random.between(0, 5);
  test.speckle_size = random.log_uniform(static_cast<int>(config.pixels()) + 1);
  test.max_step = random.one_in(4) ? 0 : random.log_uniform(64);
  sgm::Parameters parameters;
  parameters.minimum = config.minimum;
  parameters.compatibility = config.compatibility;
  parameters.subpixel = test.has_subpixel();
  test.scale = sgm::disparity_scale(parameters);
}

/// Draws a history whose disparities are often near the map's disparities.
void make_history(SgmStageCase& test, Random& random) {
  const StageConfig& config = test.config;
  constexpr int thresholds[] = {1, 20, 255};
  test.confidence_threshold =
      random.one_in(2) ? thresholds[random.between(0, 2)] : random.between(1, 255);
  test.filter.weight = random.one_in(4) ? 256 : random.one_in(4) ? 1 : random.between(1, 256);
  test.filter.max_step = random.one_in(4) ? 0 : random.log_uniform(1024 * 16);
  test.filter.persistence = random.one_in(4) ? 0 : random.one_in(4) ? 255 : random.between(1, 9);
  test.first_frame = random.one_in(4);
  test.is_new_scene = random.one_in(4);
  test.history = random_map(config, config.disparities * 16, random);
  test.measured = test.left;
  for (std::uint16_t& number : test.measured)
    if (random.one_in(4))
      number = sgm::unknown;
  const bool near = random.one_in(2);
  for (std::size_t i = 0; i < test.left.size(); ++i) {
    if (near && test.left[i] != sgm::unknown && test.history[i] != sgm::unknown)
      test.history[i] = static_cast<std::uint16_t>(
          std::clamp(test.left[i] + random.between(-20, 20), 0, 16 * config.disparities - 1));
    const bool is_old = random.one_in(8);
    test.ages.push_back(static_cast<std::uint8_t>(
        test.history[i] == sgm::unknown ? 0 : random.between(is_old ? 250 : 0, is_old ? 255 : 9)));
  }
  // These draws are unused, but the hashes of the proof depend on the number of draws.
  for (int i = -1; i < std::min(config.width, 64) * std::min(config.height, 64); ++i)
    random.between(0, 0);
}

/// Makes a map of noisy slanted planes with holes of all widths: in a plane, between two planes, at
/// both ends of rows, and whole rows. Makes a second map, in which most of the holes have values.
void make_slanted_maps(SgmStageCase& test, Random& random) {
  const StageConfig& config = test.config;
  const int top = 16 * (config.disparities - 1);
  const int plane_width = random.log_uniform(120), plane_height = random.log_uniform(60);
  const int noise = random.one_in(2) ? random.between(0, 2) : random.log_uniform(40);
  const int hole = random.log_uniform(60), rarity = random.log_uniform(100);
  const std::uint64_t seed = random.next();
  int left_in_hole = 0;
  for (int y = 0; y < config.height; ++y) {
    const bool empty_row = random.one_in(20);
    if (!random.one_in(3))
      left_in_hole = 0;
    for (int x = 0; x < config.width; ++x, --left_in_hole) {
      Random plane(mixed_seed(
          seed, static_cast<std::uint64_t>(x / plane_width + 70000 * (y / plane_height))));
      const int level = plane.one_in(4) ? top * plane.between(0, 1) : plane.between(0, top);
      const int across = plane.between(-48, 48), down = plane.between(-48, 48);
      const int number = level + (across * (x % plane_width) + down * (y % plane_height)) / 16 +
                         random.between(-noise, noise);
      const auto clamped = static_cast<std::uint16_t>(std::clamp(number, 0, top));
      if (left_in_hole <= 0 && random.one_in(rarity))
        left_in_hole = random.between(1, hole);
      const bool is_hole = empty_row || left_in_hole > 0;
      test.slanted.push_back(is_hole ? sgm::unknown : clamped);
      test.filled.push_back(is_hole && random.one_in(50) ? sgm::unknown : clamped);
    }
  }
}

/// Draws noise from none to the maximum, independently of the rest of the case.
void make_noise(SgmStageCase& test, Random random) {
  const auto deviation = static_cast<std::uint32_t>(random.one_in(6)   ? 0
                                                    : random.one_in(3) ? random.log_uniform(480)
                                                                       : random.between(0, 100));
  test.noise.used = sgm::noise_of_deviation(deviation);
  test.noise_on_device = random.one_in(2);
  if (test.noise_on_device)  // the device's variance need not be a square
    test.noise.used = noise::noise_of_variance(
        test.noise.used.variance + static_cast<std::uint32_t>(random.between(
                                       0, static_cast<int>(2 * test.noise.used.deviation))));
  test.noise.measured = static_cast<std::uint32_t>(random.between(0, 10000));
  const auto used = static_cast<int>(test.noise.used.variance);
  test.noise.average = random.one_in(6) ? -1 : random.between(0, 2 * used + 100) * 256 + 77;
  if (test.noise.average < 0)
    test.noise.used = {};
  // With small P2, path-cost sums fit into bytes.
  const int p2 = random.one_in(2) ? random.between(2, 63) : random.between(2, 223);
  test.noise_penalties.p1 = random.one_in(3) ? p2 - 1 : random.between(1, p2 - 1);
  const bool adaptive = !random.one_in(3);
  for (int step = 0; step < 256; ++step)
    test.noise_penalties.p2[step] = static_cast<std::uint8_t>(
        adaptive ? std::max(test.noise_penalties.p1 + 1, 16 * p2 / (16 + step)) : p2);
  constexpr sgm::Subpixel methods[] = {sgm::Subpixel::none, sgm::Subpixel::equiangular,
                                       sgm::Subpixel::parabola};
  test.noise_subpixel = methods[random.between(0, 2)];
}

}  // namespace

SgmStageCase sgm_stage_case_of(const FrameLayout& layout, const sgm::Parameters& parameters,
                               Random& random) {
  SgmStageCase test;
  test.layout = layout;
  test.config = sgm::StageConfig(test.layout, parameters);
  test.placement = random_placement(test.layout, random);
  test.picture.assign(test.placement.bytes, 0x5a);
  // Separate statements, because compilers may evaluate function arguments in any order.
  const bool dirty = random.one_in(2);
  const std::uint64_t content_seed = random.next();
  const auto content = static_cast<Content>(random.between(0, content_count - 1));
  paint(test.layout, frame_in(test.layout, test.placement, test.picture.data()), content,
        content_seed, dirty);
  test.right_picture.assign(test.placement.bytes, 0xa5);
  paint(test.layout, frame_in(test.layout, test.placement, test.right_picture.data()), content,
        random.one_in(2) ? content_seed : random.next(), dirty);
  test.uniqueness = static_cast<float>(parameters.uniqueness);
  test.subpixel = sgm::subpixel_of(parameters);
  test.with_confidence = !random.one_in(4);
  make_features(test, random);
  make_penalties(test, random);
  make_sums(test, random);
  make_maps(test, random);
  test.disparity_placement =
      random_placement(gray_layout(test.config.width, test.config.height, 16), random);
  test.confidence_placement =
      random_placement(gray_layout(test.config.width, test.config.height, 8), random);
  make_history(test, random);
  make_slanted_maps(test, random);
  return test;
}

SgmStageCase make_sgm_stage_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed ^ 0x57a9e5, number);
  sgm::Parameters parameters = random_sgm_parameters(random);
  // CUDA has specialised kernels for these numbers of disparities.
  if (random.one_in(2)) {
    parameters.paths = 4;
    parameters.disparities = random.one_in(4) ? 256 : random.one_in(2) ? 128 : 64;
    parameters.minimum = std::min(parameters.minimum, 2047 - parameters.disparities);
  }
  const auto [width, height] = random_picture_size(
      random, std::clamp(max_volume(1 << 19) / parameters.disparities, 1, max_pixels));
  constexpr int depths[][2] = {{8, 0}, {8, 0}, {10, 0}, {10, 6}, {12, 4}, {12, 0}, {16, 0}, {9, 1}};
  const auto& [bits, shift] = depths[random.between(0, 7)];

  SgmStageCase test =
      sgm_stage_case_of(gray_layout(width, height, bits, shift), parameters, random);
  test.title = "stage case " + std::to_string(number);
  make_noise(test, random_of_case(seed ^ 0x9015e, number));
  return test;
}

std::string describe(const SgmStageCase& test) {
  const StageConfig& p = test.config;
  return test.title + ": " + std::to_string(p.width) + "×" + std::to_string(p.height) + ", " +
         std::to_string(p.bits) + " bits, " + std::to_string(p.disparities) + " disparities from " +
         std::to_string(p.minimum) + ", " + std::to_string(p.paths) + " paths, census of " +
         std::to_string(sgm::census_bits(p.census)) + " bits" +
         (p.compatibility == sgm::Parameters::Compatibility::libsgm ? " as libSGM" : "") +
         ", subpixel method " + std::to_string(static_cast<int>(test.subpixel)) + ", uniqueness " +
         std::to_string(test.uniqueness) + ", p1 " + std::to_string(test.penalties.p1) + ", lr " +
         std::to_string(test.max_diff) + ", speckles of " + std::to_string(test.speckle_size) +
         " within " + std::to_string(test.max_step) + ", confidence " +
         std::to_string(test.confidence_threshold) + ", over time " +
         std::to_string(test.filter.weight) + " within " + std::to_string(test.filter.max_step) +
         " for " + std::to_string(test.filter.persistence) + " frames" + ", noise " +
         std::to_string(test.noise.used.deviation) + "/16" +
         (test.noise_on_device ? " known on the device" : "") +
         (test.first_frame ? ", first frame" : "") + (test.is_new_scene ? ", new scene" : "") +
         "\n  picture: " + describe(test.layout, test.placement);
}

}  // namespace cudavision::test
