// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/temporal/sgm_sequence.h"

#include <algorithm>
#include <memory>

#include "tests/kernels/common/hash.h"

namespace cudavision::test {
namespace {

constexpr int max_sequence_pixels = 1 << 13;  // small, because the definition is slow

/// Simulates noise: flips low bits of some bytes, including unused bytes around rows.
void add_noise(std::vector<std::uint8_t>& block, Random& random) {
  const int rarity = 1 << random.between(0, 5);
  const int bits = (1 << random.between(1, 5)) - 1;
  for (std::uint8_t& byte : block)
    if (random.one_in(rarity))
      byte = static_cast<std::uint8_t>(byte ^ (random.next() & static_cast<unsigned>(bits)));
}

bool begins_sequence(const SgmSequence& sequence, std::size_t number) {
  const auto is_on = [](const sgm::Parameters& p) {
    return p.temporal_alpha < 511.0 / 512 || p.temporal_persistence > 0;
  };
  const SgmSequence::Step& step = sequence.steps[number];
  if (number == 0 || step.restart)
    return true;
  const sgm::Parameters& now = step.test.parameters;
  const sgm::Parameters& before = sequence.steps[number - 1].test.parameters;
  const bool counts_otherwise = now.libsgm() && now.subpixel != before.subpixel;
  return is_on(now) != is_on(before) || counts_otherwise;
}

}  // namespace

void draw_time_parameters(sgm::Parameters& p, Random& random) {
  p.confidence_threshold = random.one_in(2) ? 0 : random.one_in(4) ? 255 : random.log_uniform(100);
  p.temporal_alpha = random.one_in(3)   ? 1
                     : random.one_in(8) ? 1 / 256.0
                                        : random.between(4, 1000) / 1000.0;
  p.temporal_delta = random.one_in(4) ? random.one_in(2) ? 0 : 1024 : random.between(1, 4);
  p.temporal_persistence = random.one_in(3) ? 0 : random.one_in(8) ? 255 : random.between(1, 4);
}

SgmSequence make_sgm_sequence(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed ^ 0x5e90e2ce, number);
  SgmCase test =
      make_sgm_case(seed ^ 0x5e90e2ce, number, std::min(max_pixels, max_sequence_pixels));
  test.parameters_later = false;
  draw_time_parameters(test.parameters, random);
  SgmSequence sequence;
  SgmInput scene = input_block(test);
  const int frames = random.between(2, 8);
  for (int frame = 0; frame < frames; ++frame) {
    if (frame > 0 && random.one_in(5)) {
      draw_time_parameters(test.parameters, random);
      // In compatibility, subpixel determines the unit of map values.
      test.parameters.subpixel = test.parameters.subpixel != random.one_in(3);
    }
    if (frame > 0 && random.one_in(6)) {
      test.content_seed += 7;
      scene = input_block(test);
    }
    SgmInput input = scene;
    if (!random.one_in(4)) {
      add_noise(input.left, random);
      add_noise(input.right, random);
    }
    sequence.steps.push_back({test, input, random.one_in(8)});
  }
  return sequence;
}

SgmSequence make_slanted_sgm_sequence(std::uint64_t seed, int number, int max_pixels) {
  SgmSequence sequence = make_sgm_sequence(seed ^ 0x51a27ed, number, max_pixels);
  Random random = random_of_case(seed ^ 0x51a27ed, number);
  for (SgmSequence::Step& step : sequence.steps) {
    slant_surfaces(step.test.parameters);
    step.test.parameters.slanted_surfaces = !random.one_in(6);
  }
  return sequence;
}

SgmSequence make_noisy_sgm_sequence(std::uint64_t seed, int number, int max_pixels) {
  SgmSequence sequence = make_slanted_sgm_sequence(seed ^ 0x9015e, number, max_pixels);
  Random random = random_of_case(seed ^ 0x9015e, number);
  const double fixed = random.between(1, 100) / 10.0;
  for (SgmSequence::Step& step : sequence.steps) {
    step.test.parameters.census = sgm::Config::Census::census_gradient;
    step.test.parameters.p1 = step.test.parameters.p2 = 0;
    step.test.parameters.noise = random.one_in(8)   ? fixed
                                 : random.one_in(8) ? 0
                                                    : sgm::Parameters::automatic_noise;
  }
  return sequence;
}

std::string describe(const SgmSequence& sequence) {
  std::string text = describe(sequence.steps[0].test);
  for (const SgmSequence::Step& step : sequence.steps) {
    const sgm::Parameters& p = step.test.parameters;
    text += "\n  frame: content " + std::to_string(step.test.content_seed) +
            (step.restart ? ", restart" : "") + (p.subpixel ? ", subpixel" : "") +
            (p.slanted_surfaces ? ", slanted" : "") + ", noise " + std::to_string(p.noise) +
            ", confidence from " + std::to_string(p.confidence_threshold) + ", alpha " +
            std::to_string(p.temporal_alpha) + " within " + std::to_string(p.temporal_delta) +
            ", kept for " + std::to_string(p.temporal_persistence);
  }
  return text;
}

SgmOutputs defined_outputs(const SgmSequence& sequence, std::uint8_t poison) {
  SgmOutputs outputs;
  DefinedHistory history;
  for (std::size_t i = 0; i < sequence.steps.size(); ++i) {
    if (begins_sequence(sequence, i))
      history = {};
    const auto& [test, input, restart] = sequence.steps[i];
    if (i > 0 && test.parameters.noise != sequence.steps[i - 1].test.parameters.noise)
      history.noise = {};
    outputs.push_back(defined_output(test, input, poison, history));
  }
  return outputs;
}

SgmOutputs run_sequence(Device& device, const SgmSequence& sequence, std::uint8_t poison) {
  const SgmCase& first = sequence.steps[0].test;
  sgm::SgmStereo stereo = first.make(device, first.parameters);
  std::vector<std::unique_ptr<SgmFrames>> frames;
  for (const auto& [test, input, restart] : sequence.steps) {
    frames.push_back(std::make_unique<SgmFrames>(device, test, input, poison));
    stereo.set_parameters(test.parameters);
    if (restart)
      stereo.restart();
    frames.back()->run(stereo);
  }
  device.finish();
  SgmOutputs outputs;
  for (const auto& frame : frames)
    outputs.push_back(frame->output());
  return outputs;
}

std::string difference(const SgmSequence& sequence, const SgmOutputs& expected,
                       const SgmOutputs& actual) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (const std::string text = difference(sequence.steps[i].test, expected[i], actual[i]);
        !text.empty())
      return "frame " + std::to_string(i) + ": " + text;
  return {};
}

std::string hash(const SgmSequence& sequence, const SgmOutputs& outputs) {
  Hash all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string one = hash(sequence.steps[i].test, outputs[i]);
    all.add(one.data(), one.size());
  }
  return all.text();
}

}  // namespace cudavision::test
