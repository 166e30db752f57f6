// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/sgm_stage_case.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using sgm::StageConfig;

constexpr int max_volume = 1 << 19;
constexpr std::size_t guard =
    256;  // numbers of poison around each output, which keep its alignment

std::uint64_t feature_mask(const StageConfig& config) {
  return (std::uint64_t{1} << sgm::census_bits(config.census)) - 1;
}

/// The right features are either random, or left features that are shifted and have some bits
/// flipped.
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

/// Sums fit bytes while P2 is small.
void make_penalties(SgmStageCase& test, Random& random) {
  const int bits = sgm::census_bits(test.config.census);
  const int largest =
      random.one_in(2) && 4 * bits < 250 ? random.between(2, (255 - 4 * bits) / 2) : 255 - bits;
  test.penalties.p1 = random.one_in(4) ? 1 : random.between(1, largest - 1);
  for (std::uint8_t& p2 : test.penalties.p2)
    p2 = static_cast<std::uint8_t>(
        random.one_in(4) ? largest : random.between(test.penalties.p1 + 1, largest));
}

/// Often draws the sums from few levels, which makes many ties.
void make_sums(SgmStageCase& test, Random& random) {
  constexpr int levels[] = {1, 2, 4, 30, 255, 2041};
  const int most = levels[random.between(0, 5)] - 1;
  const auto count = static_cast<std::size_t>(test.config.pixels()) *
                     static_cast<std::size_t>(test.config.disparities);
  for (std::size_t i = 0; i < count; ++i)
    test.sums.push_back(static_cast<std::uint16_t>(random.between(0, most)));
}

bool has_subpixel(const SgmStageCase& test) {
  return test.subpixel != sgm::Subpixel::none;
}

/// Makes a map of patches in which the numbers differ little, with holes.
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
  const bool whole = libsgm && !has_subpixel(test);
  const int disparities = random.one_in(2) ? 8 : config.disparities;
  test.left = random_map(config, disparities * (whole ? 1 : 16), random);
  test.right = random_map(config, disparities, random);
  for (const std::uint16_t number : test.left)
    test.confidence.push_back(
        static_cast<std::uint8_t>(number == sgm::unknown ? 99 : random.between(0, 255)));
  test.max_diff = random.one_in(4) && libsgm ? -1 : random.between(0, 5);
  test.speckle_size = random.log_uniform(static_cast<int>(config.pixels()) + 1);
  test.most_step = random.one_in(4) ? 0 : random.log_uniform(64);
  sgm::Parameters parameters;
  parameters.minimum = config.minimum;
  parameters.compatibility = config.compatibility;
  parameters.subpixel = has_subpixel(test);
  test.scale = sgm::disparity_scale(parameters);
}

/// The history is often near the map, and often of the same picture.
void make_history(SgmStageCase& test, Random& random) {
  const StageConfig& config = test.config;
  constexpr int thresholds[] = {1, 20, 255};
  test.confidence_threshold =
      random.one_in(2) ? thresholds[random.between(0, 2)] : random.between(1, 255);
  test.filter.weight = random.one_in(4) ? 256 : random.one_in(4) ? 1 : random.between(1, 256);
  test.filter.most_step = random.one_in(4) ? 0 : random.log_uniform(1024 * 16);
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
  const Luminances picture =
      DefinedLuminance(test.layout, frame_in(test.layout, test.placement, test.picture.data()))
          .values;
  std::vector<int> samples;
  defined_scene_cut(config, picture, samples);
  const int change = random.between(0, 60);
  for (const int sample : samples)
    test.scene_samples.push_back(
        static_cast<std::uint8_t>(std::clamp(sample + random.between(-change, change), 0, 255)));
}

template <class To = std::uint64_t, class Number>
std::vector<To> guarded(const std::vector<Number>& numbers, Number poison) {
  std::vector<To> all(numbers.size() + 2 * guard, poison);
  std::copy(numbers.begin(), numbers.end(), all.begin() + guard);
  return all;
}

template <class Number>
Number repeated(std::uint8_t poison) {
  Number number;
  std::memset(&number, poison, sizeof number);
  return number;
}

/// Device memory that a stage writes or changes, surrounded by poison.
template <class Number>
class Output {
 public:
  Output(Device& device, std::size_t count, std::uint8_t poison)
      : Output(device, std::vector<Number>(count, repeated<Number>(poison)), poison) {}
  Output(Device& device, const std::vector<Number>& before, std::uint8_t poison)
      : block_(device, guarded<Number>(before, repeated<Number>(poison))) {}

  Number* data() const { return block_.data() + guard; }

  std::vector<std::uint64_t> numbers() const {
    const std::vector<Number> values = block_.values();
    return {values.begin(), values.end()};
  }

 private:
  DeviceBlock<Number> block_;
};

/// Device memory that a stage reads.
template <class Number>
class Input {
 public:
  Input(Device& device, const std::vector<Number>& values)
      : values_(values), block_(device, values) {}

  const Number* data() const { return block_.data(); }
  void expect_unchanged() const {
    if (block_.values() != values_)
      throw std::runtime_error("a stage wrote to an input");
  }

 private:
  std::vector<Number> values_;
  DeviceBlock<Number> block_;
};

template <class Number>
std::vector<Number> narrowed(const std::vector<std::uint64_t>& numbers) {
  std::vector<Number> narrow;
  for (const std::uint64_t number : numbers)
    narrow.push_back(static_cast<Number>(number));
  return narrow;
}

FrameLayout plane_of(const StageConfig& config, int bits) {
  return gray_layout(config.width, config.height, bits);
}

/// Returns a block of poison that contains the rows of a picture.
template <class Number>
std::vector<std::uint8_t> placed(const StageConfig& config, const Placement& placement,
                                 const std::vector<Number>& numbers, std::uint8_t poison) {
  std::vector<std::uint8_t> block(placement.bytes, poison);
  put_rows(numbers,
           frame_in(plane_of(config, 8 * static_cast<int>(sizeof(Number))), placement, block.data())
               .planes[0]);
  return block;
}

SamplePlane plane_in(const SgmStageCase& test, const Input<std::uint8_t>& block) {
  SamplePlane plane;
  plane.rows = frame_in(test.layout, test.placement, block.data()).planes[0];
  plane.width = test.layout.width;
  plane.bits = test.layout.bits;
  plane.shift = test.layout.shift;
  return plane;
}

std::vector<std::uint64_t> widened(const std::vector<std::uint8_t>& block) {
  return {block.begin(), block.end()};
}

/// Runs the stages that write or read features.
template <class Feature>
void run_features(Device& device, sgm::Stages& stages, const SgmStageCase& test,
                  const SamplePlane& picture, std::uint8_t poison, SgmStageOutputs& outputs) {
  const auto pixels = static_cast<std::size_t>(test.config.pixels());
  const Output<Feature> features(device, pixels, poison);
  stages.census(picture, features.data());
  device.finish();
  outputs.push_back({"census", features.numbers()});

  const Input<Feature> left(device, narrowed<Feature>(test.left_features));
  const Input<Feature> right(device, narrowed<Feature>(test.right_features));
  const Output<std::uint16_t> sums(
      device, pixels * static_cast<std::size_t>(test.config.disparities), poison);
  stages.aggregate(picture, left.data(), right.data(), test.penalties, sums.data());
  device.finish();
  outputs.push_back({"aggregate", sums.numbers()});

  left.expect_unchanged();
  right.expect_unchanged();
}

void run_match(Device& device, sgm::Stages& stages, const SgmStageCase& test,
               const SamplePlane& picture, const SamplePlane& right_picture, std::uint8_t poison,
               SgmStageOutputs& outputs) {
  const auto pixels = static_cast<std::size_t>(test.config.pixels());
  const Output<std::uint16_t> left(device, pixels, poison), right(device, pixels, poison);
  const Output<std::uint8_t> confidence(device, pixels, poison);
  stages.match(picture, right_picture, test.penalties, test.uniqueness, test.subpixel,
               {left.data(), right.data(), test.with_confidence ? confidence.data() : nullptr});
  device.finish();
  outputs.push_back({"match, left", left.numbers()});
  outputs.push_back({"match, right", right.numbers()});
  outputs.push_back({"match, confidence", confidence.numbers()});
}

void run_select(Device& device, sgm::Stages& stages, const SgmStageCase& test, std::uint8_t poison,
                SgmStageOutputs& outputs) {
  const auto pixels = static_cast<std::size_t>(test.config.pixels());
  const Input<std::uint16_t> sums(device, test.sums);
  const Output<std::uint16_t> left(device, pixels, poison), right(device, pixels, poison);
  const Output<std::uint8_t> confidence(device, pixels, poison);
  stages.select(sums.data(), test.uniqueness, test.subpixel,
                {left.data(), right.data(), test.with_confidence ? confidence.data() : nullptr});
  device.finish();
  outputs.push_back({"select, left", left.numbers()});
  outputs.push_back({"select, right", right.numbers()});
  outputs.push_back({"select, confidence", confidence.numbers()});
  sums.expect_unchanged();
}

/// Runs the stages that make a new map from a map, and those that change a map.
void run_maps(Device& device, sgm::Stages& stages, const SgmStageCase& test,
              const SamplePlane& picture, std::uint8_t poison, SgmStageOutputs& outputs) {
  const Input<std::uint16_t> left(device, test.left), right(device, test.right);
  const Output<std::uint16_t> median(device, test.left.size(), poison);
  stages.median(left.data(), median.data());
  device.finish();
  outputs.push_back({"median", median.numbers()});
  const auto change = [&](const char* stage, const auto& work) {
    const Output<std::uint16_t> map(device, test.left, poison);
    work(map.data());
    device.finish();
    outputs.push_back({stage, map.numbers()});
  };
  change("check", [&](std::uint16_t* map) {
    stages.check(picture, right.data(), has_subpixel(test), test.max_diff, map);
  });
  const Output<std::uint16_t> checked(device, test.left.size(), poison);
  const DeviceBlock<std::uint16_t> scratch(device, test.left);
  stages.median_and_check(picture, left.data(), right.data(), has_subpixel(test), test.max_diff,
                          checked.data(), scratch.data());
  device.finish();
  outputs.push_back({"median_and_check", checked.numbers()});
  change("remove_speckles", [&](std::uint16_t* map) {
    stages.remove_speckles(test.speckle_size, test.most_step, map);
  });
  change("fill_holes", [&](std::uint16_t* map) { stages.fill_holes(map); });
  left.expect_unchanged();
  right.expect_unchanged();
}

void run_writing(Device& device, sgm::Stages& stages, const SgmStageCase& test,
                 const SamplePlane& picture, std::uint8_t poison, SgmStageOutputs& outputs) {
  const Input<std::uint16_t> map(device, test.left);
  const Input<std::uint8_t> confidence(device, test.confidence);
  const auto write = [&](const char* stage, int bits, const Placement& placement,
                         const auto& work) {
    const DeviceBlock<std::uint8_t> block(device,
                                          std::vector<std::uint8_t>(placement.bytes, poison));
    work(frame_in(plane_of(test.config, bits), placement, block.data()).planes[0]);
    device.finish();
    outputs.push_back({stage, widened(block.values())});
  };
  write("write", 16, test.disparity_placement,
        [&](View<std::uint8_t> out) { stages.write(map.data(), test.scale, out); });
  const Input<std::uint16_t> right(device, test.right);
  const DeviceBlock<std::uint16_t> left_scratch(device, test.left),
      right_scratch(device, test.left);
  write("median_check_and_write", 16, test.disparity_placement, [&](View<std::uint8_t> out) {
    stages.median_check_and_write(picture, map.data(), right.data(), has_subpixel(test),
                                  test.max_diff, test.scale, out, left_scratch.data(),
                                  right_scratch.data());
  });
  if (test.config.compatibility == sgm::Parameters::Compatibility::none)
    write("refine_and_write", 16, test.disparity_placement, [&](View<std::uint8_t> out) {
      stages.refine_and_write(picture, map.data(), test.scale, out, left_scratch.data());
    });
  write("write_confidence", 8, test.confidence_placement, [&](View<std::uint8_t> out) {
    stages.write_confidence(map.data(), confidence.data(), out);
  });
  map.expect_unchanged();
  confidence.expect_unchanged();
}

void run_refinement(Device& device, sgm::Stages& stages, const SgmStageCase& test,
                    const SamplePlane& picture, std::uint8_t poison, SgmStageOutputs& outputs) {
  const Input<std::uint16_t> map(device, test.left);
  const Output<std::uint16_t> refined(device, test.left.size(), poison);
  stages.refine(picture, map.data(), refined.data());
  device.finish();
  outputs.push_back({"refine", refined.numbers()});
  map.expect_unchanged();
}

}  // namespace

SgmStageCase make_sgm_stage_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed ^ 0x57a9e5, number);
  sgm::Parameters parameters = random_sgm_parameters(random);
  // CUDA has kernels of its own for these.
  if (random.one_in(2)) {
    parameters.paths = 4;
    parameters.disparities = random.one_in(4) ? 256 : random.one_in(2) ? 128 : 64;
    parameters.minimum = std::min(parameters.minimum, 2047 - parameters.disparities);
  }
  const auto [width, height] =
      random_picture_size(random, std::clamp(max_volume / parameters.disparities, 1, max_pixels));
  constexpr int depths[][2] = {{8, 0}, {8, 0}, {10, 0}, {10, 6}, {12, 4}, {12, 0}, {16, 0}, {9, 1}};
  const auto& [bits, shift] = depths[random.between(0, 7)];

  SgmStageCase test;
  test.title = "stage case " + std::to_string(number);
  test.layout = gray_layout(width, height, bits, shift);
  test.config = sgm::StageConfig(test.layout, parameters);
  test.placement = random_placement(test.layout, random);
  test.picture.assign(test.placement.bytes, 0x5a);
  // One after the other: compilers may evaluate the arguments of a call in any order.
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
  test.disparity_placement = random_placement(plane_of(test.config, 16), random);
  test.confidence_placement = random_placement(plane_of(test.config, 8), random);
  make_history(test, random);
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
         " within " + std::to_string(test.most_step) + ", confidence " +
         std::to_string(test.confidence_threshold) + ", over time " +
         std::to_string(test.filter.weight) + " within " + std::to_string(test.filter.most_step) +
         " for " + std::to_string(test.filter.persistence) + " frames" +
         (test.first_frame ? ", first frame" : "") + (test.is_new_scene ? ", new scene" : "") +
         "\n  picture: " + describe(test.layout, test.placement);
}

SgmStageOutputs defined_stages(const SgmStageCase& test, std::uint8_t poison) {
  const StageConfig& config = test.config;
  const auto luminances = [&](const std::vector<std::uint8_t>& block) {
    return DefinedLuminance(test.layout, frame_in(test.layout, test.placement, block.data()))
        .values;
  };
  const Luminances picture = luminances(test.picture);
  const auto word = repeated<std::uint16_t>(poison);
  SgmStageOutputs outputs;
  const auto features = defined_census(config, picture);
  outputs.push_back({"census", config.feature_bytes() == 8
                                   ? guarded(features, repeated<std::uint64_t>(poison))
                                   : guarded(narrowed<std::uint32_t>(features),
                                             repeated<std::uint32_t>(poison))});
  outputs.push_back({"aggregate", guarded(defined_sums(config, picture, test.left_features,
                                                       test.right_features, test.penalties),
                                          word)});
  const auto add_winners = [&](const std::string& stage, const std::vector<std::uint16_t>& from) {
    DefinedWinners winners = defined_winners(config, from, test.uniqueness, test.subpixel);
    if (!test.with_confidence)
      std::fill(winners.confidence.begin(), winners.confidence.end(), poison);
    outputs.push_back({stage + ", left", guarded(winners.left, word)});
    outputs.push_back({stage + ", right", guarded(winners.right, word)});
    outputs.push_back({stage + ", confidence", guarded(winners.confidence, poison)});
  };
  add_winners("match",
              defined_sums(config, picture, features,
                           defined_census(config, luminances(test.right_picture)), test.penalties));
  add_winners("select", test.sums);
  outputs.push_back({"median", guarded(defined_median(config, test.left), word)});
  outputs.push_back({"check", guarded(defined_check(config, picture, test.left, test.right,
                                                    has_subpixel(test), test.max_diff),
                                      word)});
  const auto checked_medians =
      defined_check(config, picture, defined_median(config, test.left),
                    defined_median(config, test.right), has_subpixel(test), test.max_diff);
  outputs.push_back({"median_and_check", guarded(checked_medians, word)});
  outputs.push_back(
      {"remove_speckles",
       guarded(defined_without_speckles(config, test.left, test.speckle_size, test.most_step),
               word)});
  outputs.push_back({"fill_holes", guarded(defined_filling(config, test.left), word)});
  const auto written = [&](const std::vector<std::uint16_t>& map) {
    return widened(placed(config, test.disparity_placement,
                          defined_disparities(config, map, test.scale), poison));
  };
  outputs.push_back({"write", written(test.left)});
  outputs.push_back({"median_check_and_write", written(checked_medians)});
  if (config.compatibility == sgm::Parameters::Compatibility::none)
    outputs.push_back(
        {"refine_and_write", written(defined_refinement(config, picture, test.left))});
  outputs.push_back(
      {"write_confidence",
       widened(placed(config, test.confidence_placement,
                      defined_confidence(config, test.left, test.confidence), poison))});
  if (config.compatibility == sgm::Parameters::Compatibility::none)
    outputs.push_back({"refine", guarded(defined_refinement(config, picture, test.left), word)});
  return outputs;
}

SgmStageOutputs defined_stages_over_time(const SgmStageCase& test, std::uint8_t poison) {
  const StageConfig& config = test.config;
  const auto word = repeated<std::uint16_t>(poison);
  SgmStageOutputs outputs;
  auto confidence = defined_confidence(config, test.left, test.confidence);
  const Map confident = defined_confident(test.left, test.confidence_threshold, confidence);
  for (const char* stage : {"keep_confident", "keep_confident without an output"})
    outputs.push_back({stage, guarded(confident, word)});
  outputs.push_back({"written confidence",
                     widened(placed(config, test.confidence_placement, confidence, poison))});

  const Luminances picture =
      DefinedLuminance(test.layout, frame_in(test.layout, test.placement, test.picture.data()))
          .values;
  std::vector<int> samples;
  if (!test.first_frame)
    samples.assign(test.scene_samples.begin(), test.scene_samples.end());
  const bool cut = defined_scene_cut(config, picture, samples);
  outputs.push_back({"find_scene_cut", guarded(std::vector<std::uint8_t>{cut}, poison)});
  outputs.push_back({"scene samples",
                     guarded(std::vector<std::uint8_t>(samples.begin(), samples.end()), poison)});

  for (const bool filled : {false, true}) {
    DefinedHistory history{test.history, {test.ages.begin(), test.ages.end()}, {}};
    defined_over_time(test.left, filled ? test.measured : test.left, test.filter, test.is_new_scene,
                      history);
    outputs.push_back({"filter_over_time", guarded(history.numbers, word)});
    outputs.push_back(
        {"filter_over_time, ages",
         guarded(std::vector<std::uint8_t>(history.ages.begin(), history.ages.end()), poison)});
  }
  return outputs;
}

SgmStageOutputs run_stages_over_time(Device& device, const SgmStageCase& test,
                                     std::uint8_t poison) {
  const auto stages = sgm::make_stages(device, test.config);
  SgmStageOutputs outputs;
  const Input<std::uint16_t> map(device, test.left);
  const Input<std::uint8_t> confidence(device, test.confidence), picture(device, test.picture);
  const DeviceBlock<std::uint8_t> block(
      device, std::vector<std::uint8_t>(test.confidence_placement.bytes, poison));
  const View<std::uint8_t> out =
      frame_in(plane_of(test.config, 8), test.confidence_placement, block.data()).planes[0];
  for (const auto& [stage, view] : {std::pair{"keep_confident", out},
                                    {"keep_confident without an output", View<std::uint8_t>{}}}) {
    const Output<std::uint16_t> kept(device, test.left.size(), poison);
    stages->keep_confident(map.data(), confidence.data(), test.confidence_threshold, view,
                           kept.data());
    device.finish();
    outputs.push_back({stage, kept.numbers()});
  }
  outputs.push_back({"written confidence", widened(block.values())});

  const Output<std::uint8_t> scene(device, test.scene_samples, poison);
  const Output<std::uint8_t> cut(device, 1, poison);
  stages->find_scene_cut(plane_in(test, picture), test.first_frame,
                         {nullptr, nullptr, scene.data(), reinterpret_cast<bool*>(cut.data())});
  device.finish();
  outputs.push_back({"find_scene_cut", cut.numbers()});
  outputs.push_back({"scene samples", scene.numbers()});

  const Input<std::uint16_t> measured(device, test.measured);
  const Input<std::uint8_t> is_new_scene(device, {test.is_new_scene});
  for (const std::uint16_t* known : {static_cast<const std::uint16_t*>(nullptr), measured.data()}) {
    const Output<std::uint16_t> numbers(device, test.history, poison);
    const Output<std::uint8_t> ages(device, test.ages, poison);
    stages->filter_over_time(
        map.data(), known, test.filter,
        {numbers.data(), ages.data(), nullptr,
         reinterpret_cast<bool*>(const_cast<std::uint8_t*>(is_new_scene.data()))});
    device.finish();
    outputs.push_back({"filter_over_time", numbers.numbers()});
    outputs.push_back({"filter_over_time, ages", ages.numbers()});
  }
  measured.expect_unchanged();
  is_new_scene.expect_unchanged();
  map.expect_unchanged();
  confidence.expect_unchanged();
  picture.expect_unchanged();
  return outputs;
}

SgmStageOutputs run_matching(Device& device, sgm::Stages& stages, const SgmStageCase& test,
                             std::uint8_t poison) {
  const Input<std::uint8_t> block(device, test.picture), right_block(device, test.right_picture);
  const SamplePlane picture = plane_in(test, block);
  SgmStageOutputs outputs;
  if (test.config.feature_bytes() == 8)
    run_features<std::uint64_t>(device, stages, test, picture, poison, outputs);
  else
    run_features<std::uint32_t>(device, stages, test, picture, poison, outputs);
  run_match(device, stages, test, picture, plane_in(test, right_block), poison, outputs);
  block.expect_unchanged();
  right_block.expect_unchanged();
  return outputs;
}

SgmStageOutputs run_stages(Device& device, const SgmStageCase& test, std::uint8_t poison) {
  const auto stages = sgm::make_stages(device, test.config);
  SgmStageOutputs outputs = run_matching(device, *stages, test, poison);
  const Input<std::uint8_t> block(device, test.picture);
  const SamplePlane picture = plane_in(test, block);
  run_select(device, *stages, test, poison, outputs);
  run_maps(device, *stages, test, picture, poison, outputs);
  run_writing(device, *stages, test, picture, poison, outputs);
  if (!test.config.libsgm())
    run_refinement(device, *stages, test, picture, poison, outputs);
  block.expect_unchanged();
  return outputs;
}

std::string difference(const SgmStageCase& test, const SgmStageOutputs& expected,
                       const SgmStageOutputs& actual) {
  for (std::size_t stage = 0; stage < expected.size(); ++stage) {
    const auto& [name, wanted] = expected[stage];
    const auto [e, a] = std::mismatch(wanted.begin(), wanted.end(), actual[stage].numbers.begin());
    if (e == wanted.end())
      continue;
    const auto number = e - wanted.begin() - static_cast<std::ptrdiff_t>(guard);
    const std::int64_t pixel =
        name == "aggregate" ? number / test.config.disparities : std::int64_t{number};
    const bool in_block = name.rfind("write", 0) == 0;
    return name + ": " +
           (in_block ? "byte " + std::to_string(e - wanted.begin())
                     : "number " + std::to_string(number) + ", which belongs to pixel (" +
                           std::to_string(pixel % test.config.width) + ", " +
                           std::to_string(pixel / test.config.width) + "),") +
           " must be " + std::to_string(*e) + " and is " + std::to_string(*a);
  }
  return {};
}

std::string hash(const SgmStageOutputs& outputs) {
  Hash hash;
  for (const SgmStageOutput& output : outputs)
    for (const std::uint64_t number : output.numbers) {
      hash.add_number(static_cast<std::uint32_t>(number));
      hash.add_number(static_cast<std::uint32_t>(number >> 32));
    }
  return hash.text();
}

}  // namespace cudavision::test
