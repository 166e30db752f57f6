// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/localstatistics/localstatistics.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

/// Local statistics of one frame. The result is the only plane of out_layout.
struct LocalStatisticsCase : FrameCase {
  using Parameters = localstatistics::Parameters;
  using Operation = localstatistics::LocalStatistics;
  using Frames = CaseFrames<LocalStatisticsCase>;

  Parameters parameters;
  /// Divides samples by 8, so that their mean is near the black level of limited range.
  bool darkened = false;

  Operation make(Device& device, const Parameters& set) const {
    return {device, layout, out_layout.bits, set};
  }
  static void enqueue(Operation& operation, const ConstFrame& from, const Frame& to) {
    operation.run(from, to.planes[0]);
  }
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;
};

using LocalStatisticsRunner = Runner<LocalStatisticsCase>;

LocalStatisticsCase make_localstatistics_case(std::uint64_t seed, int number, int max_pixels);

/// Draws Bradley's or Sauvola's threshold in limited range. Half of the frames are darkened.
LocalStatisticsCase make_limited_localstatistics_case(std::uint64_t seed, int number,
                                                      int max_pixels);

/// Makes a case of dense frames. output_bits = 0: 8 bits if the input has 8 bits, otherwise 16.
LocalStatisticsCase plain_localstatistics_case(const FrameLayout& layout,
                                               const localstatistics::Parameters& parameters,
                                               Content content, std::uint64_t seed,
                                               int output_bits = 0);

std::string describe(const LocalStatisticsCase& test);
std::vector<std::uint8_t> input_block(const LocalStatisticsCase& test);

inline bool is_threshold(localstatistics::Parameters::Output output) {
  using Output = localstatistics::Parameters::Output;
  return output == Output::bradley || output == Output::sauvola;
}

inline localstatistics::Parameters statistics(localstatistics::Parameters::Output output,
                                              int radius) {
  localstatistics::Parameters parameters;
  parameters.output = output;
  parameters.radius = radius;
  return parameters;
}
inline localstatistics::Parameters in_limited_range(localstatistics::Parameters parameters) {
  parameters.limited_range = true;
  return parameters;
}

}  // namespace cudavision::test
