// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {

/// A sequence of frames, mostly of one scene, for one SgmStereo, with changing parameters.
struct SgmSequence {
  struct Step {
    SgmCase test;  ///< has the parameters of this frame
    SgmInput input;
    bool restart = false;  ///< restart before this frame
  };
  std::vector<Step> steps;  ///< at least one
};

SgmSequence make_sgm_sequence(std::uint64_t seed, int number, int max_pixels);

/// Draws a sequence without compatibility, and with slanted_surfaces in most frames.
SgmSequence make_slanted_sgm_sequence(std::uint64_t seed, int number, int max_pixels);

/// Draws a sequence with census_gradient, in which most frames have automatic noise.
SgmSequence make_noisy_sgm_sequence(std::uint64_t seed, int number, int max_pixels);

/// Draws the parameters of the filter over time, and the confidence threshold.
void draw_time_parameters(sgm::Parameters& parameters, Random& random);

std::string describe(const SgmSequence& sequence);

using SgmOutputs = std::vector<SgmOutput>;
SgmOutputs defined_outputs(const SgmSequence& sequence, std::uint8_t poison);
SgmOutputs run_sequence(Device& device, const SgmSequence& sequence, std::uint8_t poison);

std::string difference(const SgmSequence& sequence, const SgmOutputs& expected,
                       const SgmOutputs& actual);

std::string hash(const SgmSequence& sequence, const SgmOutputs& outputs);

}  // namespace cudavision::test
