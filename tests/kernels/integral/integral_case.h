// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/integral/integral.h"
#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {

/// One integral image with everything that it depends on. Equal seeds and numbers make equal cases
/// on every machine.
struct IntegralCase {
  std::string title;
  FrameLayout layout;
  integral::Parameters parameters;
  int picture_bits =
      0;  ///< of the integral::IntegralPicture that is made of the same frame; 0: of none
  Placement in, table, picture;
  Content content = Content::random;
  std::uint64_t content_seed = 0;
  bool dirty = false;
};

/// Frame sizes are drawn so that width times height stays within max_pixels, and within less where
/// sums are tilted: their definition is slow.
IntegralCase make_integral_case(std::uint64_t seed, int number, int max_pixels);

/// A dense frame, a dense table, no picture.
IntegralCase plain_integral_case(const FrameLayout& layout, const integral::Parameters& parameters,
                                 Content content, std::uint64_t seed);

std::string describe(const integral::Parameters& parameters);
std::string describe(const IntegralCase& test);

/// The table as a plane of bytes, and its picture as one of samples, for their placements.
FrameLayout table_layout(const FrameLayout& layout, const integral::Parameters& parameters);
FrameLayout picture_layout(const IntegralCase& test);

/// Whole blocks as they were after the run, with all that lies around the table and its picture.
struct IntegralBlocks {
  std::vector<std::uint8_t> table;
  std::vector<std::uint8_t> picture;  ///< empty where none is asked for
};

/// The input block: the painted frame in the midst of poison.
std::vector<std::uint8_t> input_block(const IntegralCase& test);

/// What the blocks must hold, by the definition, for outputs that were filled with poison.
IntegralBlocks defined_blocks(const IntegralCase& test, const std::vector<std::uint8_t>& input,
                              std::uint8_t poison);

/// The operations, made once and run as often as wanted.
class IntegralRunner {
 public:
  IntegralRunner(Device& device, const IntegralCase& test);

  /// Throws std::runtime_error if the input was written to.
  IntegralBlocks run(const std::vector<std::uint8_t>& input, std::uint8_t poison);

 private:
  Device& device_;
  IntegralCase test_;
  integral::Integral integral_;
  std::optional<integral::IntegralPicture> picture_;
};

/// Empty where the blocks are equal, else which is not and where it first differs.
std::string difference(const IntegralCase& test, const IntegralBlocks& expected,
                       const IntegralBlocks& actual);

/// Of the rows of the table and of its picture, without what lies around them.
std::string hash(const IntegralCase& test, const IntegralBlocks& blocks);

}  // namespace cudavision::test
