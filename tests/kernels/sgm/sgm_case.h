// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/sgm/sgmstereo.h"
#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/sgm/sgm_definition.h"

namespace cudavision::test {

/// One pair of pictures matched, with everything that it depends on. Equal seeds and numbers make
/// equal cases on every machine.
struct SgmCase {
  std::string title;
  FrameLayout left_layout, right_layout;
  Placement left, right, disparity, confidence;
  Content content = Content::random;
  bool related = true;  ///< the left picture shows the right one, shifted block by block
  std::uint64_t content_seed = 0;
  bool dirty = false;
  bool with_confidence = true;
  sgm::Parameters parameters;
  bool parameters_later = false;  ///< constructed with others, these set afterwards
};

/// Frame sizes are drawn so that width times height stays within max_pixels, and within less where
/// there are many disparities: the definition is slow.
SgmCase make_sgm_case(std::uint64_t seed, int number, int max_pixels);

/// Dense frames of one layout.
SgmCase plain_sgm_case(const FrameLayout& layout, const sgm::Parameters& parameters,
                       Content content, std::uint64_t seed);

/// Parameters of every kind, valid ones.
sgm::Parameters random_sgm_parameters(Random& random);

std::string describe(const sgm::Parameters& parameters);
std::string describe(const SgmCase& test);

/// The blocks of both pictures, in the midst of poison.
struct SgmInput {
  std::vector<std::uint8_t> left, right;
};
SgmInput input_blocks(const SgmCase& test);

/// The blocks of both results. confidence: as it was where none is asked for.
struct SgmOutput {
  std::vector<std::uint8_t> disparity, confidence;
};

/// What the blocks, filled with poison before, must hold by the definition.
SgmOutput defined_blocks(const SgmCase& test, const SgmInput& input, std::uint8_t poison);

/// The operation, made once and run as often as wanted.
class SgmRunner {
 public:
  SgmRunner(Device& device, const SgmCase& test);

  /// The whole blocks as they were after the run, with all that lies around the results. Throws
  /// std::runtime_error if an input was written to.
  SgmOutput run(const SgmInput& input, std::uint8_t poison);

 private:
  Device& device_;
  SgmCase test_;
  sgm::SgmStereo stereo_;
};

/// Empty where the results are equal, else where they first differ.
std::string difference(const SgmCase& test, const SgmOutput& expected, const SgmOutput& actual);

/// Of the rows of both results, without what lies around them.
std::string hash(const SgmCase& test, const SgmOutput& output);

}  // namespace cudavision::test
