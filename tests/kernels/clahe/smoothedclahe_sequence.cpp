// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/clahe/smoothedclahe_sequence.h"

#include <algorithm>
#include <memory>

#include "tests/kernels/clahe/clahe_definition.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/common/watched_device.h"

namespace cudavision::test {
namespace {

using histogramaverage::Status;

constexpr int most_pixels = 1 << 16;         // the definition is slow
constexpr std::int64_t most_bins = 1 << 18;  // of all tiles, for the same reason

/// Changes some bytes of a part of the picture, so that some tiles change and others do not.
void change(std::vector<std::uint8_t>& block, Random& random) {
  const int brighter = random.one_in(2) ? random.between(-20, 20) : 0;
  const int rarity = 1 << random.between(0, 8);
  const auto size = static_cast<int>(block.size());
  const int begin = random.one_in(2) ? 0 : random.between(0, size - 1);
  const int end = random.one_in(2) ? size : random.between(begin, size);
  for (int i = begin; i < end; ++i) {
    auto& byte = block[static_cast<std::size_t>(i)];
    byte = static_cast<std::uint8_t>(std::clamp(byte + brighter, 0, 255));
    if (random.one_in(rarity))
      byte = static_cast<std::uint8_t>(byte ^ random.between(0, 15));
  }
}

histogramaverage::Parameters random_smoothing(Random& random) {
  return {random.one_in(8) ? 65536 * random.between(0, 1) : random.log_uniform(65536),
          random.one_in(2) ? 65536 : random.between(0, 65536)};
}

}  // namespace

SmoothedClaheSequence make_smoothed_clahe_sequence(std::uint64_t seed, int number, int max_pixels) {
  constexpr std::uint64_t own = 0x5c1a4e;
  Random random = random_of_case(seed ^ own, number);
  ClaheCase test = make_clahe_case(seed ^ own, number, std::min(max_pixels, most_pixels));
  test.parameters_later = false;
  while (std::int64_t{test.tiles.columns} * test.tiles.rows << test.layout.bits > most_bins) {
    test.tiles.columns = (test.tiles.columns + 1) / 2;
    test.tiles.rows = (test.tiles.rows + 1) / 2;
  }
  const int low = test.parameters.low, high = test.parameters.high;
  SmoothedClaheSequence sequence;
  histogramaverage::Parameters smoothing = random_smoothing(random);
  std::vector<std::uint8_t> scene = input_block(test);
  const int frames = random.between(2, 6);
  for (int frame = 0; frame < frames; ++frame) {
    if (frame > 0 && random.one_in(4)) {
      test.parameters = random.one_in(2) ? test.other_parameters() : test.parameters;
      if (!random.one_in(4)) {  // other ranges begin a new average, so they must be rare
        test.parameters.low = low;
        test.parameters.high = high;
      }
      test.parameters.blend = random.between(0, 256);
      test.parameters.clip_limit = random_clip_limit(random);
      smoothing = random_smoothing(random);
    }
    if (frame > 0 && random.one_in(6)) {
      test.content_seed += 7;
      scene = input_block(test);
    }
    std::vector<std::uint8_t> input = scene;
    if (!random.one_in(4))
      change(input, random);
    sequence.steps.push_back({test, input, smoothing, random.one_in(8)});
  }
  return sequence;
}

std::string describe(const SmoothedClaheSequence& sequence) {
  std::string text = describe(sequence.steps[0].test);
  for (const SmoothedClaheSequence::Step& step : sequence.steps)
    text += "\n  frame: " + std::to_string(step.test.parameters.low) + " to " +
            std::to_string(step.test.parameters.high) + ", clip limit " +
            std::to_string(step.test.parameters.clip_limit) + ", blend " +
            std::to_string(step.test.parameters.blend) + ", weight " +
            std::to_string(step.smoothing.weight) + ", threshold " +
            std::to_string(step.smoothing.cut_threshold) + (step.restart ? ", restart" : "");
  return text;
}

SmoothedClaheOutputs defined_outputs(const SmoothedClaheSequence& sequence, std::uint8_t poison) {
  DefinedSmoothedClahe smoothed;
  SmoothedClaheOutputs outputs;
  for (const auto& [test, input, smoothing, restart] : sequence.steps) {
    if (restart)
      smoothed.restart();
    std::vector<std::uint8_t> out(test.out.bytes, poison);
    smoothed.next(test.layout, test.tiles, test.parameters, smoothing,
                  frame_in(test.layout, test.in, input.data()),
                  frame_in(test.layout, test.out, out.data()));
    outputs.push_back({std::move(out), smoothed.status()});
  }
  return outputs;
}

SmoothedClaheOutputs run_sequence(Device& device, const SmoothedClaheSequence& sequence,
                                  std::uint8_t poison) {
  const ClaheCase& first = sequence.steps[0].test;
  clahe::SmoothedClahe equalize(device, first.layout, first.tiles, first.parameters);
  std::vector<std::unique_ptr<ClaheCase::Frames>> frames;
  std::vector<DeviceBlock<Status>> statuses;
  statuses.reserve(sequence.steps.size());
  for (const SmoothedClaheSequence::Step& step : sequence.steps) {
    frames.push_back(std::make_unique<ClaheCase::Frames>(device, step.test, step.input, poison));
    statuses.emplace_back(device, std::vector<Status>(1));
  }
  // Nothing waits between the frames.
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const SmoothedClaheSequence::Step& step = sequence.steps[i];
    equalize.set_parameters(step.test.parameters);
    if (step.restart)
      equalize.restart();
    equalize.run(frames[i]->in, frames[i]->out, step.smoothing);
    device.copy(bytes_of(const_cast<Status*>(equalize.status()), sizeof(Status)),
                bytes_of(statuses[i].data(), sizeof(Status)));
  }
  device.finish();
  SmoothedClaheOutputs outputs;
  for (std::size_t i = 0; i < frames.size(); ++i)
    outputs.push_back({frames[i]->output(), statuses[i].values()[0]});
  return outputs;
}

std::string difference(const SmoothedClaheSequence& sequence, const SmoothedClaheOutputs& expected,
                       const SmoothedClaheOutputs& actual) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::string wrong = difference(sequence.steps[i].test, expected[i].out, actual[i].out);
    if (wrong.empty())
      wrong = difference(expected[i].status, actual[i].status);
    if (!wrong.empty())
      return "frame " + std::to_string(i) + ": " + wrong;
  }
  return {};
}

std::string hash(const SmoothedClaheSequence& sequence, const SmoothedClaheOutputs& outputs) {
  Hash all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string one = hash(sequence.steps[i].test, outputs[i].out);
    all.add(one.data(), one.size());
    add_status(all, outputs[i].status);
  }
  return all.text();
}

}  // namespace cudavision::test
