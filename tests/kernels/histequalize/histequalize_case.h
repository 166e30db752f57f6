// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/histequalize/histequalize.h"
#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {

/// One equalisation with everything that it depends on. Equal seeds and numbers make equal cases on
/// every machine.
struct HistEqualizeCase {
  std::string title;
  FrameLayout layout;
  Placement in, out;
  Content content = Content::random;
  std::uint64_t content_seed = 0;
  bool dirty = false;
  histequalize::Parameters parameters;
  bool parameters_later = false;  ///< constructed with others, these set afterwards
  bool histogram = true;          ///< asked for together with the equalised frame
  int histogram_start = 0;        ///< in counts, from the beginning of its block
};

/// Frame sizes are drawn so that width times height stays within max_pixels.
HistEqualizeCase make_histequalize_case(std::uint64_t seed, int number, int max_pixels);

/// The case's picture at another size, dense, fully equalised to the full range.
HistEqualizeCase plain_histequalize_case(const FrameLayout& layout, Content content,
                                         std::uint64_t seed);

std::string describe(const HistEqualizeCase& test);

/// Whole blocks as they were after the run, with all that lies around the frame and the bins.
struct HistEqualizeBlocks {
  std::vector<std::uint8_t> out;
  std::vector<std::uint32_t> histogram;  ///< from histequalize::HistogramEqualize
  std::vector<std::uint32_t> bins;       ///< from histequalize::Histogram
};

/// The input block: the painted frame in the midst of poison.
std::vector<std::uint8_t> input_block(const HistEqualizeCase& test);

/// What the blocks must hold, by the definition, for outputs that were filled with poison.
HistEqualizeBlocks defined_blocks(const HistEqualizeCase& test,
                                  const std::vector<std::uint8_t>& input, std::uint8_t poison);

/// Both operations, made once and run as often as wanted.
class HistEqualizeRunner {
 public:
  HistEqualizeRunner(Device& device, const HistEqualizeCase& test);

  /// Throws std::runtime_error if the input was written to.
  HistEqualizeBlocks run(const std::vector<std::uint8_t>& input, std::uint8_t poison);

 private:
  Device& device_;
  HistEqualizeCase test_;
  histequalize::HistogramEqualize equalize_;
  histequalize::Histogram count_;
};

/// Empty where the blocks are equal, else which is not and where it first differs.
std::string difference(const HistEqualizeCase& test, const HistEqualizeBlocks& expected,
                       const HistEqualizeBlocks& actual);

/// Of the frame's rows, the histogram and the bins, without what lies around them.
std::string hash(const HistEqualizeCase& test, const HistEqualizeBlocks& blocks);

}  // namespace cudavision::test
