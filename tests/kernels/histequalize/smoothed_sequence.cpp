// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/histequalize/smoothed_sequence.h"

#include <algorithm>
#include <memory>

#include "tests/kernels/common/hash.h"
#include "tests/kernels/common/watched_device.h"
#include "tests/kernels/histequalize/histequalize_definition.h"
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

namespace cudavision::test {
namespace {

using histogramaverage::Status;

constexpr int most_pixels = 1 << 17;  // the definition is slow

/// Changes some bytes a little, or all of them alike.
void change(std::vector<std::uint8_t>& block, Random& random) {
  const int brighter = random.one_in(2) ? random.between(-20, 20) : 0;
  const int rarity = 1 << random.between(0, 8);
  for (std::uint8_t& byte : block) {
    byte = static_cast<std::uint8_t>(std::clamp(byte + brighter, 0, 255));
    if (random.one_in(rarity))
      byte = static_cast<std::uint8_t>(byte ^ random.between(0, 15));
  }
}

histogramaverage::Parameters random_smoothing(Random& random) {
  return {random.one_in(8) ? 65536 * random.between(0, 1) : random.log_uniform(65536),
          random.one_in(2) ? 65536 : random.between(0, 65536)};
}

/// Returns the histograms or tables one after the other.
template <class To, class From>
std::vector<To> joined(const std::vector<std::vector<From>>& rows) {
  std::vector<To> all;
  for (const auto& row : rows)
    for (const From element : row)
      all.push_back(static_cast<To>(element));
  return all;
}

template <class To, class From>
std::vector<std::vector<To>> split(const std::vector<From>& all, std::size_t rows) {
  const std::size_t width = all.size() / rows;
  std::vector<std::vector<To>> result(rows);
  for (std::size_t i = 0; i < all.size(); ++i)
    result[i / width].push_back(static_cast<To>(all[i]));
  return result;
}

/// Smooths the tables of successive frames.
class DefinedSmoothing {
 public:
  SmoothedOutput run(const SmoothedSequence::Step& step, std::uint8_t poison) {
    const HistEqualizeCase& test = step.test;
    const histequalize::Parameters& p = test.parameters;
    const ConstFrame in = frame_in(test.layout, test.in, step.input.data());
    const auto counts = defined_histograms(test.layout, p.channels, in);
    if (step.restart || p.low != low_ || p.high != high_)
      average_.restart();
    low_ = p.low;
    high_ = p.high;
    const int rows = static_cast<int>(counts.size());
    const auto averages = average_.add(joined<std::uint32_t>(counts), rows, step.smoothing);
    std::vector<std::vector<int>> made;
    for (const auto& histogram : split<std::uint32_t>(averages, counts.size()))
      made.push_back(defined_table(histogram, low_, high_));
    const auto& in_use = hysteresis_.follow(joined<std::uint16_t>(made), rows, average_.status());

    SmoothedOutput output{defined_output(test, step.input, poison), average_.status()};
    defined_mapping(test.layout, p, split<int>(in_use, counts.size()), in,
                    frame_in(test.layout, test.out, output.blocks.out.data()));
    return output;
  }

 private:
  DefinedAverage average_;
  DefinedHysteresis hysteresis_;
  int low_ = -1, high_ = -1;
};

}  // namespace

SmoothedSequence make_smoothed_sequence(std::uint64_t seed, int number, int max_pixels) {
  constexpr std::uint64_t own = 0x0e9a117e;
  Random random = random_of_case(seed ^ own, number);
  HistEqualizeCase test =
      make_histequalize_case(seed ^ own, number, std::min(max_pixels, most_pixels));
  test.parameters_later = false;
  const int low = test.parameters.low, high = test.parameters.high;
  SmoothedSequence sequence;
  histogramaverage::Parameters smoothing = random_smoothing(random);
  std::vector<std::uint8_t> scene = input_block(test);
  const int frames = random.between(2, 7);
  for (int frame = 0; frame < frames; ++frame) {
    if (frame > 0 && random.one_in(4)) {
      test.parameters = random.one_in(2) ? test.other_parameters() : test.parameters;
      if (!random.one_in(4)) {  // other ranges begin a new average, so they must be rare
        test.parameters.low = low;
        test.parameters.high = high;
      }
      test.parameters.blend = random.between(0, 256);
      smoothing = random_smoothing(random);
    }
    if (frame > 0 && random.one_in(6)) {
      test.content_seed += 7;
      scene = input_block(test);
    }
    std::vector<std::uint8_t> input = scene;
    if (!random.one_in(4))
      change(input, random);
    test.histogram = random.one_in(2);
    sequence.steps.push_back({test, input, smoothing, random.one_in(8)});
  }
  return sequence;
}

std::string describe(const SmoothedSequence& sequence) {
  std::string text = describe(sequence.steps[0].test);
  for (const SmoothedSequence::Step& step : sequence.steps)
    text += "\n  frame: " + std::to_string(step.test.parameters.low) + " to " +
            std::to_string(step.test.parameters.high) + ", blend " +
            std::to_string(step.test.parameters.blend) + ", weight " +
            std::to_string(step.smoothing.weight) + ", threshold " +
            std::to_string(step.smoothing.cut_threshold) + (step.restart ? ", restart" : "") +
            (step.test.histogram ? ", histogram" : "");
  return text;
}

SmoothedOutputs defined_outputs(const SmoothedSequence& sequence, std::uint8_t poison) {
  DefinedSmoothing smoothing;
  SmoothedOutputs outputs;
  for (const SmoothedSequence::Step& step : sequence.steps)
    outputs.push_back(smoothing.run(step, poison));
  return outputs;
}

SmoothedOutputs run_sequence(Device& device, const SmoothedSequence& sequence,
                             std::uint8_t poison) {
  const HistEqualizeCase& first = sequence.steps[0].test;
  histequalize::SmoothedEqualize equalize(device, first.layout, first.parameters);
  histequalize::Histogram count(device, first.layout);
  std::vector<std::unique_ptr<HistEqualizeFrames>> frames;
  std::vector<DeviceBlock<Status>> statuses;
  statuses.reserve(sequence.steps.size());
  for (const auto& [test, input, smoothing, restart] : sequence.steps) {
    frames.push_back(std::make_unique<HistEqualizeFrames>(device, test, input, poison));
    statuses.emplace_back(device, std::vector<Status>(1));
  }
  // Nothing waits between the frames.
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const SmoothedSequence::Step& step = sequence.steps[i];
    equalize.set_parameters(step.test.parameters);
    if (step.restart)
      equalize.restart();
    equalize.run(frames[i]->in, frames[i]->out, step.smoothing, frames[i]->histogram);
    device.copy(bytes_of(const_cast<Status*>(equalize.status()), sizeof(Status)),
                bytes_of(statuses[i].data(), sizeof(Status)));
    count.run(frames[i]->in, frames[i]->bins);
  }
  device.finish();
  SmoothedOutputs outputs;
  for (std::size_t i = 0; i < frames.size(); ++i)
    outputs.push_back({frames[i]->output(), statuses[i].values()[0]});
  return outputs;
}

std::string difference(const SmoothedSequence& sequence, const SmoothedOutputs& expected,
                       const SmoothedOutputs& actual) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::string wrong = difference(sequence.steps[i].test, expected[i].blocks, actual[i].blocks);
    if (wrong.empty())
      wrong = difference(expected[i].status, actual[i].status);
    if (!wrong.empty())
      return "frame " + std::to_string(i) + ": " + wrong;
  }
  return {};
}

std::string hash(const SmoothedSequence& sequence, const SmoothedOutputs& outputs) {
  Hash all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string one = hash(sequence.steps[i].test, outputs[i].blocks);
    all.add(one.data(), one.size());
    add_status(all, outputs[i].status);
  }
  return all.text();
}

}  // namespace cudavision::test
