// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/histequalize/smoothedequalize.h"
#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::test {

/// Frames that one SmoothedEqualize equalises one after the other, mostly of one scene, with
/// parameters that change in between. Equal seeds and numbers make equal sequences on every
/// machine.
struct SmoothedSequence {
  struct Step {
    HistEqualizeCase test;  ///< has the parameters of this frame
    std::vector<std::uint8_t> input;
    histogramaverage::Parameters smoothing;
    bool restart = false;  ///< before this frame
  };
  std::vector<Step> steps;  ///< at least one
};

SmoothedSequence make_smoothed_sequence(std::uint64_t seed, int number, int max_pixels);

std::string describe(const SmoothedSequence& sequence);

/// What one frame leaves in device memory, with the poison around frame and histogram.
struct SmoothedOutput {
  HistEqualizeBlocks blocks;
  histogramaverage::Status status;
};

using SmoothedOutputs = std::vector<SmoothedOutput>;
SmoothedOutputs defined_outputs(const SmoothedSequence& sequence, std::uint8_t poison);
SmoothedOutputs run_sequence(Device& device, const SmoothedSequence& sequence, std::uint8_t poison);

/// Describes which frame differs first, and where. Returns an empty string if all are equal.
std::string difference(const SmoothedSequence& sequence, const SmoothedOutputs& expected,
                       const SmoothedOutputs& actual);

/// Returns the hash of the rows of all frames, and of what else they leave.
std::string hash(const SmoothedSequence& sequence, const SmoothedOutputs& outputs);

}  // namespace cudavision::test
