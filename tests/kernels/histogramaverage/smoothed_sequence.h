// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/common/allocations/watched_device.h"
#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

namespace cudavision::test {

/// A sequence of frames, mostly of one scene, for one operation, with changing parameters.
/// Equal seeds and numbers make equal sequences on every machine.
///
/// Besides the members of a FilterCase, Case has the following:
///
///   std::optional<histogramaverage::Parameters> smoothing
///   bool restart                           begin a new average before the frame
///   const Status* Operation::status()
///   parameters_text(test)                  describes the parameters
///   Case::DefinedSmoothing                 has restart() and status()
///   defined_output(test, input, poison, smoothing)    updates the smoothing
template <class Case>
struct SmoothedSequence {
  struct Step {
    Case test;  ///< has the parameters of this frame
    std::vector<std::uint8_t> input;
  };
  std::vector<Step> steps;  ///< at least one
};

histogramaverage::Parameters random_smoothing(Random& random);

/// Flips low bits of some bytes and often changes the brightness, if `parts` often only in a part.
void change_bytes(std::vector<std::uint8_t>& block, bool parts, Random& random);

std::string describe(const histogramaverage::Parameters& smoothing);

/// Draws a sequence that begins with `test`. draw_parameters(test) draws parameters that only Case
/// has; draw_frame(test) changes members before each frame.
template <class Case, class DrawParameters, class DrawFrame>
SmoothedSequence<Case> draw_sequence(Case test, int max_frames, bool parts, Random& random,
                                     const DrawParameters& draw_parameters,
                                     const DrawFrame& draw_frame) {
  test.parameters_later = false;
  const int low = test.parameters.low, high = test.parameters.high;
  SmoothedSequence<Case> sequence;
  test.smoothing = random_smoothing(random);
  std::vector<std::uint8_t> scene = input_block(test);
  const int frames = random.between(2, max_frames);
  for (int frame = 0; frame < frames; ++frame) {
    if (frame > 0 && random.one_in(4)) {
      test.parameters = random.one_in(2) ? test.other_parameters() : test.parameters;
      if (!random.one_in(4)) {  // a new range begins a new average, so it must be rare
        test.parameters.low = low;
        test.parameters.high = high;
      }
      test.parameters.blend = random.between(0, 256);
      draw_parameters(test);
      test.smoothing = random_smoothing(random);
    }
    if (frame > 0 && random.one_in(6)) {
      test.content_seed += 7;
      scene = input_block(test);
    }
    std::vector<std::uint8_t> input = scene;
    if (!random.one_in(4))
      change_bytes(input, parts, random);
    draw_frame(test);
    test.restart = random.one_in(8);
    sequence.steps.push_back({test, input});
  }
  return sequence;
}

template <class Case>
std::string describe(const SmoothedSequence<Case>& sequence) {
  std::string text = describe(sequence.steps[0].test);
  for (const auto& [test, input] : sequence.steps)
    text += "\n  frame: " + parameters_text(test) + ", " + describe(*test.smoothing) +
            (test.restart ? ", restart" : "");
  return text;
}

/// The output of one frame, with the poison around it, and the status.
template <class Case>
struct SmoothedOutput {
  typename Runner<Case>::Output output;
  histogramaverage::Status status;
};
template <class Case>
using SmoothedOutputs = std::vector<SmoothedOutput<Case>>;

template <class Case>
SmoothedOutputs<Case> defined_outputs(const SmoothedSequence<Case>& sequence, std::uint8_t poison) {
  typename Case::DefinedSmoothing smoothing;
  SmoothedOutputs<Case> outputs;
  for (const auto& [test, input] : sequence.steps) {
    if (test.restart)
      smoothing.restart();
    auto output = defined_output(test, input, poison, smoothing);
    outputs.push_back({std::move(output), smoothing.status()});
  }
  return outputs;
}

template <class Case>
SmoothedOutputs<Case> run_sequence(Device& device, const SmoothedSequence<Case>& sequence,
                                   std::uint8_t poison) {
  using histogramaverage::Status;
  const Case& first = sequence.steps[0].test;
  auto operation = first.make(device, first.parameters);
  std::vector<std::unique_ptr<typename Case::Frames>> frames;
  std::vector<DeviceBlock<Status>> statuses;
  statuses.reserve(sequence.steps.size());
  for (const auto& [test, input] : sequence.steps) {
    frames.push_back(std::make_unique<typename Case::Frames>(device, test, input, poison));
    statuses.emplace_back(device, std::vector<Status>(1));
  }
  // All frames are enqueued before the first wait.
  for (std::size_t i = 0; i < frames.size(); ++i) {
    operation.set_parameters(frames[i]->test.parameters);
    frames[i]->run(operation);
    device.copy(bytes_of(const_cast<Status*>(operation.status()), sizeof(Status)),
                bytes_of(statuses[i].data(), sizeof(Status)));
  }
  device.finish();
  SmoothedOutputs<Case> outputs;
  for (std::size_t i = 0; i < frames.size(); ++i)
    outputs.push_back({frames[i]->output(), statuses[i].values()[0]});
  return outputs;
}

template <class Case>
std::string difference(const SmoothedSequence<Case>& sequence,
                       const SmoothedOutputs<Case>& expected, const SmoothedOutputs<Case>& actual) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::string wrong = difference(sequence.steps[i].test, expected[i].output, actual[i].output);
    if (wrong.empty())
      wrong = difference(expected[i].status, actual[i].status);
    if (!wrong.empty())
      return "frame " + std::to_string(i) + ": " + wrong;
  }
  return {};
}

template <class Case>
std::string hash(const SmoothedSequence<Case>& sequence, const SmoothedOutputs<Case>& outputs) {
  Hash all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string one = hash(sequence.steps[i].test, outputs[i].output);
    all.add(one.data(), one.size());
    add_status(all, outputs[i].status);
  }
  return all.text();
}

}  // namespace cudavision::test
