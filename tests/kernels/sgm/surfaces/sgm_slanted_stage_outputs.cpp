// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/stages/sgm_stage_memory.h"

namespace cudavision::test {
namespace {

struct NamedMap {
  const char* name;
  const Map& map;
};
std::vector<NamedMap> maps_of(const SgmStageCase& test) {
  return {{" of random numbers", test.left}, {" of planes", test.slanted}};
}

}  // namespace

SgmStageOutputs defined_slanted_stages(const SgmStageCase& test, std::uint8_t poison) {
  const sgm::StageConfig& config = test.config;
  if (config.libsgm())
    return {};
  const Luminances left = luminances_in(test, test.picture);
  const Luminances right = luminances_in(test, test.right_picture);
  const auto word = repeated<std::uint16_t>(poison);
  SgmStageOutputs outputs;
  const auto add = [&](const std::string& stage, const Map& map) {
    outputs.push_back({stage, guarded(map, word)});
  };
  for (const auto& [name, map] : maps_of(test)) {
    const std::string suffix = name;
    add("sharpen" + suffix, defined_sharpening(config, left, right, map));
    const Map filled = defined_slope_filling(config, map);
    add("fill_slopes" + suffix, filled);
    add("fill_slopes without confidence" + suffix, filled);
    outputs.push_back({"confidence after filling" + suffix,
                       guarded(defined_confidence_after_filling(map, test.confidence), poison)});
    const Map smoothed = defined_smoothing(config, left, test.confidence, map);
    add("smooth" + suffix, smoothed);
    outputs.push_back({"write smoothed" + suffix,
                       widened(placed(config, test.disparity_placement,
                                      defined_disparities(config, smoothed, test.scale), poison))});
    const Map checked = defined_check(
        config, left, defined_median(config, map),
        defined_refinement(config, right, defined_median(config, test.right)), true, test.max_diff);
    add("median_refine_and_check" + suffix, checked);
  }
  add("refine_filled", defined_refinement_of_filled(config, left, test.slanted, test.filled));
  return outputs;
}

SgmStageOutputs run_slanted_stages(Device& device, const SgmStageCase& test, std::uint8_t poison) {
  const sgm::StageConfig& config = test.config;
  if (config.libsgm())
    return {};
  const auto stages = sgm::make_stages(device, config);
  const Input<std::uint8_t> block(device, test.picture), right_block(device, test.right_picture);
  const SamplePlane left = plane_in(test, block), right = plane_in(test, right_block);
  const Input<std::uint8_t> confidence(device, test.confidence);
  const MapOutput scratch(device, test, poison), other_scratch(device, test, poison);
  SgmStageOutputs outputs;
  const auto add = [&](const std::string& stage, const auto& work) {
    const MapOutput to(device, test, poison);
    work(to.data());
    device.finish();
    outputs.push_back({stage, to.numbers()});
  };
  for (const auto& [name, map] : maps_of(test)) {
    const std::string suffix = name;
    const MapInput from(device, test, map);
    add("sharpen" + suffix, [&](std::uint16_t* to) {
      stages->run(sgm::Sharpen{left, right, from.data(), to});
    });
    const Output<std::uint8_t> confidence_after(device, test.confidence, poison);
    add("fill_slopes" + suffix, [&](std::uint16_t* to) {
      stages->run(sgm::FillSlopes{from.data(), to, confidence_after.data()});
    });
    add("fill_slopes without confidence" + suffix, [&](std::uint16_t* to) {
      stages->run(sgm::FillSlopes{from.data(), to, nullptr});
    });
    outputs.push_back({"confidence after filling" + suffix, confidence_after.numbers()});
    add("smooth" + suffix, [&](std::uint16_t* to) {
      stages->run(sgm::Smooth{left, confidence.data(), from.data(), to, scratch.data()});
    });
    const DeviceBlock<std::uint8_t> disparity(
        device, std::vector<std::uint8_t>(test.disparity_placement.bytes, poison));
    const sgm::Stage smooth_and_write[] = {
        sgm::Smooth{left, confidence.data(), from.data(), scratch.data(), other_scratch.data()},
        sgm::Write{
            scratch.data(), test.scale,
            frame_in(plane_of(config, 16), test.disparity_placement, disparity.data()).planes[0]}};
    stages->run(smooth_and_write);
    device.finish();
    outputs.push_back({"write smoothed" + suffix, widened(disparity.values())});
    const MapOutput right_map(device, test, test.right, poison);
    add("median_refine_and_check" + suffix, [&](std::uint16_t* to) {
      const sgm::Stage list[] = {sgm::Median{right_map.data(), scratch.data()},
                                 sgm::Refine{right, scratch.data(), right_map.data()},
                                 sgm::Median{from.data(), to},
                                 sgm::Check{left, right_map.data(), true, test.max_diff, to}};
      stages->run(list);
    });
    from.expect_unchanged();
  }
  const MapInput holed(device, test, test.slanted), filled(device, test, test.filled);
  add("refine_filled", [&](std::uint16_t* to) {
    stages->run(sgm::RefineFilled{left, holed.data(), filled.data(), to});
  });
  holed.expect_unchanged();
  filled.expect_unchanged();
  confidence.expect_unchanged();
  block.expect_unchanged();
  right_block.expect_unchanged();
  return outputs;
}

}  // namespace cudavision::test
