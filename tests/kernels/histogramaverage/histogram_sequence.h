// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/histogramaverage/histogramaverage.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {

struct HistogramSequence {
  struct Step {
    int rows;
    int padding;  ///< unused counts after each row; tables have 4 times as many unused entries
    std::vector<std::uint32_t> counts;
    std::vector<std::uint16_t> tables;
    histogramaverage::Parameters parameters;
    int area_change = 0;   ///< change of the area means, in 65536ths
    bool restart = false;  ///< restart before this frame
  };
  int bits;
  int max_rows;
  std::vector<Step> steps;  ///< at least one
};

HistogramSequence make_histogram_sequence(std::uint64_t seed, int number, int max_bins);

std::string describe(const HistogramSequence& sequence);

struct HistogramOutput {
  std::vector<std::uint32_t> averages;
  std::vector<std::uint16_t> tables;
  histogramaverage::Status status;
};

using HistogramOutputs = std::vector<HistogramOutput>;
HistogramOutputs defined_outputs(const HistogramSequence& sequence);
HistogramOutputs run_sequence(Device& device, const HistogramSequence& sequence);

std::string difference(const HistogramSequence& sequence, const HistogramOutputs& expected,
                       const HistogramOutputs& actual);

std::string hash(const HistogramOutputs& outputs);

}  // namespace cudavision::test
