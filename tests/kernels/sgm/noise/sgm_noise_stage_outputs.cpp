// SPDX-License-Identifier: LGPL-2.1-or-later
// The outputs of the stages that adapt to noise, by the definition and by a device.
#include "tests/kernels/sgm/stages/sgm_stage_memory.h"

namespace cudavision::test {
namespace {

/// Selects census_gradient, the only census that depends on noise.
sgm::StageConfig noisy_config(const SgmStageCase& test) {
  sgm::StageConfig config = test.config;
  config.census = sgm::Config::Census::census_gradient;
  config.compatibility = sgm::Config::Compatibility::none;
  return config;
}

std::vector<std::uint64_t> numbers_of(const sgm::NoiseState& state) {
  return {state.used.variance, state.used.deviation, state.measured,
          static_cast<std::uint64_t>(state.average)};
}

}  // namespace

SgmStageOutputs defined_noise_stages(const SgmStageCase& test, std::uint8_t poison) {
  const sgm::StageConfig config = noisy_config(test);
  const Luminances left = luminances_in(test, test.picture);
  const Luminances right = luminances_in(test, test.right_picture);
  const auto variance = static_cast<int>(test.noise.used.variance);
  const auto deviation = static_cast<int>(test.noise.used.deviation);
  SgmStageOutputs outputs;
  DefinedNoise noise;
  if (!test.first_frame)
    noise = {test.noise.average, static_cast<int>(test.noise.measured), variance, deviation};
  defined_noise(config, left, noise);
  outputs.push_back(
      {"estimate_noise",
       {static_cast<std::uint64_t>(noise.variance), static_cast<std::uint64_t>(noise.deviation),
        static_cast<std::uint64_t>(noise.measured), static_cast<std::uint64_t>(noise.average)}});
  const Luminances filtered = defined_filtering(config, left, variance);
  outputs.push_back({"filter_noise", guarded(filtered, repeated<std::uint16_t>(poison))});
  const auto word = repeated<std::uint32_t>(poison);
  outputs.push_back(
      {"census_filtered",
       guarded(defined_filtered_census(config, filtered, deviation), std::uint64_t{word})});
  const auto sums =
      defined_sums_under_noise(config, left, right, test.noise_penalties, variance, deviation);
  outputs.push_back({"aggregate under noise", guarded(sums, repeated<std::uint16_t>(poison))});
  const DefinedWinners winners =
      defined_winners(config, sums, test.uniqueness, test.noise_subpixel);
  for (const auto& [name, map] : {std::pair{"left", &winners.left}, {"right", &winners.right}})
    outputs.push_back({std::string("match under noise, ") + name,
                       guarded(*map, repeated<std::uint16_t>(poison))});
  outputs.push_back({"match under noise, confidence", guarded(winners.confidence, poison)});
  return outputs;
}

SgmStageOutputs run_noise_stages(Device& device, sgm::Stages& stages, const SgmStageCase& test,
                                 std::uint8_t poison) {
  const sgm::StageConfig config = noisy_config(test);
  const Input<std::uint8_t> block(device, test.picture), right_block(device, test.right_picture);
  const SamplePlane left = plane_in(test, block), right = plane_in(test, right_block);
  const auto pixels = static_cast<std::size_t>(config.pixels());
  SgmStageOutputs outputs;

  const DeviceBlock<sgm::NoiseState> estimated(device, {test.noise});
  stages.estimate_noise(left, test.first_frame, estimated.data());
  device.finish();
  outputs.push_back({"estimate_noise", numbers_of(estimated.values()[0])});

  // The host knows the noise, or only the device does.
  const DeviceBlock<sgm::NoiseState> state(device, {test.noise});
  sgm::NoiseSource noise{test.noise.used, nullptr};
  if (test.noise_on_device)
    noise = {{}, state.data()};
  const Output<std::uint16_t> filtered(device, pixels, poison),
      right_filtered(device, pixels, poison);
  stages.filter_noise(left, noise, filtered.data());
  stages.filter_noise(right, noise, right_filtered.data());
  const Output<std::uint32_t> features(device, pixels, poison),
      right_features(device, pixels, poison);
  stages.census_filtered(filtered.data(), noise, features.data());
  stages.census_filtered(right_filtered.data(), noise, right_features.data());
  const Output<std::uint16_t> sums(device, pixels * config.disparities, poison);
  stages.aggregate(sgm::filtered_plane(config, filtered.data()), features.data(),
                   right_features.data(), test.noise_penalties, noise, sums.data());
  device.finish();
  outputs.push_back({"filter_noise", filtered.numbers()});
  outputs.push_back({"census_filtered", features.numbers()});
  outputs.push_back({"aggregate under noise", sums.numbers()});

  run_winners(device, test, "match under noise", true, poison, outputs,
              [&](const sgm::WtaResult& winners) {
                stages.match(left, right, test.noise_penalties, noise, test.uniqueness,
                             test.noise_subpixel, winners);
              });
  block.expect_unchanged();
  right_block.expect_unchanged();
  return outputs;
}

SgmStageOutputs run_noise_stages(Device& device, const SgmStageCase& test, std::uint8_t poison) {
  return run_noise_stages(device, *sgm::make_stages(device, noisy_config(test)), test, poison);
}

SgmStageOutputs run_noise_stages_in_bands(Device& device, const SgmStageCase& test, int band_rows,
                                          std::uint8_t poison) {
  if constexpr (built_with_cuda())
    return run_noise_stages(device,
                            *sgm::make_stages_in_bands_cuda(device, noisy_config(test), band_rows),
                            test, poison);
  return {};
}

}  // namespace cudavision::test
