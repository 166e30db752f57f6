// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/nlmeans/nlmeans.h"
#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {

/// One denoising with everything that it depends on. Equal seeds and numbers make equal cases on
/// every machine.
struct NlMeansCase {
  std::string title;
  FrameLayout layout;
  Placement in, out;
  Content content = Content::random;  ///< of every channel
  std::uint64_t content_seed = 0;
  bool dirty = false;
  nlmeans::Parameters parameters;
  bool parameters_later = false;  ///< constructed with others, these set afterwards
};

/// The largest search that tests try where frames have max_pixels at most: up to what
/// nlmeans::NlMeans takes, and so that its square is a quarter of that. A GPU looks at whole tiles
/// for each place of a search, however small the frame is.
int most_search(int max_pixels);

/// Frame sizes are drawn so that width times height stays within max_pixels, and within less where
/// search and patch are large: the definition is slow.
NlMeansCase make_nlmeans_case(std::uint64_t seed, int number, int max_pixels);

/// A dense frame.
NlMeansCase plain_nlmeans_case(const FrameLayout& layout, const nlmeans::Parameters& parameters,
                               Content content, std::uint64_t seed);

std::string describe(const NlMeansCase& test);

/// The input block: the painted frame in the midst of poison.
std::vector<std::uint8_t> input_block(const NlMeansCase& test);

/// What the output block, filled with poison before, must hold by the definition.
std::vector<std::uint8_t> defined_block(const NlMeansCase& test,
                                        const std::vector<std::uint8_t>& input,
                                        std::uint8_t poison);

/// The operation, made once and run as often as wanted.
class NlMeansRunner {
 public:
  NlMeansRunner(Device& device, const NlMeansCase& test);

  /// The whole output block as it was after the run, with all that lies around the frame. Throws
  /// std::runtime_error if the input was written to.
  std::vector<std::uint8_t> run(const std::vector<std::uint8_t>& input, std::uint8_t poison);

 private:
  Device& device_;
  NlMeansCase test_;
  nlmeans::NlMeans denoising_;
};

/// Empty where the output blocks are equal, else where they first differ.
std::string difference(const NlMeansCase& test, const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual);

/// Of the frame's rows, without what lies around them.
std::string hash(const NlMeansCase& test, const std::vector<std::uint8_t>& block);

}  // namespace cudavision::test
