// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <utility>

#include "tests/kernels/sgm/stages/sgm_stage_memory.h"

namespace cudavision::test {
namespace {

using sgm::StageConfig;

template <class Number>
std::vector<Number> narrowed(const std::vector<std::uint64_t>& numbers) {
  std::vector<Number> narrow;
  for (const std::uint64_t number : numbers)
    narrow.push_back(static_cast<Number>(number));
  return narrow;
}

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
  const Output<std::uint16_t> sums(device, pixels * test.config.disparities, poison);
  stages.aggregate(picture, left.data(), right.data(), test.penalties, {}, sums.data());
  device.finish();
  outputs.push_back({"aggregate", sums.numbers()});

  left.expect_unchanged();
  right.expect_unchanged();
}

void run_match(Device& device, sgm::Stages& stages, const SgmStageCase& test,
               const SamplePlane& picture, const SamplePlane& right_picture, std::uint8_t poison,
               SgmStageOutputs& outputs) {
  run_winners(device, test, "match", test.with_confidence, poison, outputs,
              [&](const sgm::WtaResult& winners) {
                stages.match(picture, right_picture, test.penalties, {}, test.uniqueness,
                             test.subpixel, winners);
              });
}

void run_select(Device& device, sgm::Stages& stages, const SgmStageCase& test, std::uint8_t poison,
                SgmStageOutputs& outputs) {
  const Input<std::uint16_t> sums(device, test.sums);
  run_winners(device, test, "select", test.with_confidence, poison, outputs,
              [&](const sgm::WtaResult& winners) {
                stages.select(sums.data(), test.uniqueness, test.subpixel, winners);
              });
  sums.expect_unchanged();
}

void run_maps(Device& device, sgm::Stages& stages, const SgmStageCase& test,
              const SamplePlane& picture, std::uint8_t poison, SgmStageOutputs& outputs) {
  const MapInput left(device, test, test.left), right(device, test, test.right);
  const MapOutput median(device, test, poison);
  stages.run(sgm::Median{left.data(), median.data()});
  device.finish();
  outputs.push_back({"median", median.numbers()});
  const auto change = [&](const char* stage, const auto& work) {
    const MapOutput map(device, test, test.left, poison);
    work(map.data());
    device.finish();
    outputs.push_back({stage, map.numbers()});
  };
  change("check", [&](std::uint16_t* map) {
    stages.run(sgm::Check{picture, right.data(), test.has_subpixel(), test.max_diff, map});
  });
  const MapOutput checked(device, test, poison);
  const MapOutput scratch(device, test, poison);
  const sgm::Stage medians_and_check[] = {
      sgm::Median{right.data(), scratch.data()}, sgm::Median{left.data(), checked.data()},
      sgm::Check{picture, scratch.data(), test.has_subpixel(), test.max_diff, checked.data()}};
  stages.run(medians_and_check);
  device.finish();
  outputs.push_back({"median_and_check", checked.numbers()});
  change("remove_speckles", [&](std::uint16_t* map) {
    stages.run(sgm::RemoveSpeckles{test.speckle_size, test.max_step, map});
  });
  change("fill_holes", [&](std::uint16_t* map) { stages.run(sgm::FillHoles{map}); });
  left.expect_unchanged();
  right.expect_unchanged();
}

void run_writing(Device& device, sgm::Stages& stages, const SgmStageCase& test,
                 const SamplePlane& picture, std::uint8_t poison, SgmStageOutputs& outputs) {
  const MapInput map(device, test, test.left);
  const Input<std::uint8_t> confidence(device, test.confidence);
  const auto write = [&](const char* stage, int bits, const Placement& placement,
                         const auto& work) {
    const DeviceBlock<std::uint8_t> block(device,
                                          std::vector<std::uint8_t>(placement.bytes, poison));
    work(frame_in(plane_of(test.config, bits), placement, block.data()).planes[0]);
    device.finish();
    outputs.push_back({stage, widened(block.values())});
  };
  write("write", 16, test.disparity_placement, [&](View<std::uint8_t> out) {
    stages.run(sgm::Write{map.data(), test.scale, out});
  });
  const MapInput right(device, test, test.right);
  const MapOutput left_scratch(device, test, poison), right_scratch(device, test, poison);
  write("median_check_and_write", 16, test.disparity_placement, [&](View<std::uint8_t> out) {
    const sgm::Stage list[] = {sgm::Median{right.data(), right_scratch.data()},
                               sgm::Median{map.data(), left_scratch.data()},
                               sgm::Check{picture, right_scratch.data(), test.has_subpixel(),
                                          test.max_diff, left_scratch.data()},
                               sgm::Write{left_scratch.data(), test.scale, out}};
    stages.run(list);
  });
  if (test.config.compatibility == sgm::Parameters::Compatibility::none)
    write("refine_and_write", 16, test.disparity_placement, [&](View<std::uint8_t> out) {
      const sgm::Stage list[] = {sgm::Refine{picture, map.data(), left_scratch.data()},
                                 sgm::Write{left_scratch.data(), test.scale, out}};
      stages.run(list);
    });
  write("write_confidence", 8, test.confidence_placement, [&](View<std::uint8_t> out) {
    stages.run(sgm::KeepConfident{map.data(), confidence.data(), 0, out, nullptr});
  });
  map.expect_unchanged();
  confidence.expect_unchanged();
}

}  // namespace

SgmStageOutputs defined_stages(const SgmStageCase& test, std::uint8_t poison) {
  const StageConfig& config = test.config;
  const Luminances picture = luminances_in(test, test.picture);
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
  add_winners("match", defined_sums(config, picture, features,
                                    defined_census(config, luminances_in(test, test.right_picture)),
                                    test.penalties));
  add_winners("select", test.sums);
  outputs.push_back({"median", guarded(defined_median(config, test.left), word)});
  outputs.push_back({"check", guarded(defined_check(config, picture, test.left, test.right,
                                                    test.has_subpixel(), test.max_diff),
                                      word)});
  const auto checked_medians =
      defined_check(config, picture, defined_median(config, test.left),
                    defined_median(config, test.right), test.has_subpixel(), test.max_diff);
  outputs.push_back({"median_and_check", guarded(checked_medians, word)});
  outputs.push_back(
      {"remove_speckles",
       guarded(defined_without_speckles(config, test.left, test.speckle_size, test.max_step),
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

  for (const bool filled : {false, true}) {
    DefinedHistory history{test.history, {test.ages.begin(), test.ages.end()}};
    history.is_new_scene = test.first_frame || test.is_new_scene;
    defined_over_time(test.left, filled ? test.measured : test.left, test.filter, history);
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
  const MapInput map(device, test, test.left);
  const Input<std::uint8_t> confidence(device, test.confidence), picture(device, test.picture);
  const DeviceBlock<std::uint8_t> block(
      device, std::vector<std::uint8_t>(test.confidence_placement.bytes, poison));
  const View<std::uint8_t> out =
      frame_in(plane_of(test.config, 8), test.confidence_placement, block.data()).planes[0];
  for (const auto& [stage, view] : {std::pair{"keep_confident", out},
                                    {"keep_confident without an output", View<std::uint8_t>{}}}) {
    const MapOutput kept(device, test, poison);
    stages->run(sgm::KeepConfident{map.data(), confidence.data(), test.confidence_threshold, view,
                                   kept.data()});
    device.finish();
    outputs.push_back({stage, kept.numbers()});
  }
  outputs.push_back({"written confidence", widened(block.values())});

  const MapInput measured(device, test, test.measured);
  const Input<std::uint32_t> area_change(device, {test.is_new_scene ? 16385u : 16384u});
  for (const std::uint16_t* known : {static_cast<const std::uint16_t*>(nullptr), measured.data()}) {
    const MapOutput numbers(device, test, test.history, poison);
    const Output<std::uint8_t> ages(device, test.ages, poison);
    stages->run(
        sgm::FilterOverTime{map.data(),
                            known,
                            test.filter,
                            {numbers.data(), ages.data(), area_change.data(), test.first_frame}});
    device.finish();
    outputs.push_back({"filter_over_time", numbers.numbers()});
    outputs.push_back({"filter_over_time, ages", ages.numbers()});
  }
  measured.expect_unchanged();
  area_change.expect_unchanged();
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
  if (!test.config.libsgm()) {
    const MapInput map(device, test, test.left);
    const MapOutput refined(device, test, poison);
    stages->run(sgm::Refine{picture, map.data(), refined.data()});
    device.finish();
    outputs.push_back({"refine", refined.numbers()});
    map.expect_unchanged();
  }
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
