// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/clahe/smoothedclahe.h"
#include "tests/kernels/clahe/clahe_case.h"

namespace cudavision::test {

/// Frames that one SmoothedClahe equalises one after the other, mostly of one scene, with
/// parameters that change in between. Equal seeds and numbers make equal sequences on every
/// machine.
struct SmoothedClaheSequence {
  struct Step {
    ClaheCase test;  ///< has the parameters of this frame
    std::vector<std::uint8_t> input;
    histogramaverage::Parameters smoothing;
    bool restart = false;  ///< before this frame
  };
  std::vector<Step> steps;  ///< at least one
};

SmoothedClaheSequence make_smoothed_clahe_sequence(std::uint64_t seed, int number, int max_pixels);

std::string describe(const SmoothedClaheSequence& sequence);

/// What one frame leaves in device memory, with the poison around the frame.
struct SmoothedClaheOutput {
  std::vector<std::uint8_t> out;
  histogramaverage::Status status;
};

using SmoothedClaheOutputs = std::vector<SmoothedClaheOutput>;
SmoothedClaheOutputs defined_outputs(const SmoothedClaheSequence& sequence, std::uint8_t poison);
SmoothedClaheOutputs run_sequence(Device& device, const SmoothedClaheSequence& sequence,
                                  std::uint8_t poison);

/// Describes which frame differs first, and where. Returns an empty string if all are equal.
std::string difference(const SmoothedClaheSequence& sequence, const SmoothedClaheOutputs& expected,
                       const SmoothedClaheOutputs& actual);

/// Returns the hash of the rows of all frames, and of their statuses.
std::string hash(const SmoothedClaheSequence& sequence, const SmoothedClaheOutputs& outputs);

}  // namespace cudavision::test
