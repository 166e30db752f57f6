// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/localstatistics/localstatistics.h"
#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {

/// Local statistics of one picture with everything that they depend on. Equal seeds and numbers
/// make equal cases on every machine.
struct LocalStatisticsCase {
  std::string title;
  FrameLayout layout;
  int output_bits = 8;
  Placement in, out;
  Content content = Content::random;
  std::uint64_t content_seed = 0;
  bool dirty = false;
  localstatistics::Parameters parameters;
  bool parameters_later = false;  ///< constructed with others, these set afterwards
};

/// Frame sizes are drawn so that width times height stays within max_pixels.
LocalStatisticsCase make_localstatistics_case(std::uint64_t seed, int number, int max_pixels);

/// Dense frames; of 8 bits become 8, and of more 16.
LocalStatisticsCase plain_localstatistics_case(const FrameLayout& layout,
                                               const localstatistics::Parameters& parameters,
                                               Content content, std::uint64_t seed);

std::string describe(const LocalStatisticsCase& test);

/// What comes out, as a plane, for its placement.
FrameLayout out_layout(const LocalStatisticsCase& test);

/// The input block: the painted frame in the midst of poison.
std::vector<std::uint8_t> input_block(const LocalStatisticsCase& test);

/// What the output block, filled with poison before, must hold by the definition.
std::vector<std::uint8_t> defined_block(const LocalStatisticsCase& test,
                                        const std::vector<std::uint8_t>& input,
                                        std::uint8_t poison);

/// The operation, made once and run as often as wanted.
class LocalStatisticsRunner {
 public:
  LocalStatisticsRunner(Device& device, const LocalStatisticsCase& test);

  /// The whole output block as it was after the run, with all that lies around the plane. Throws
  /// std::runtime_error if the input was written to.
  std::vector<std::uint8_t> run(const std::vector<std::uint8_t>& input, std::uint8_t poison);

 private:
  Device& device_;
  LocalStatisticsCase test_;
  localstatistics::LocalStatistics statistics_;
};

/// Empty where the output blocks are equal, else where they first differ.
std::string difference(const LocalStatisticsCase& test, const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual);

/// Of the plane's rows, without what lies around them.
std::string hash(const LocalStatisticsCase& test, const std::vector<std::uint8_t>& block);

}  // namespace cudavision::test
