// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/histequalize/histequalize.h"
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

/// A second implementation of histogram equalisation, which works pixel by pixel and shares no code
/// with the one under test.
namespace cudavision::test {

/// Counts how often each luminance occurs.
std::vector<std::uint32_t> defined_histogram(const FrameLayout& layout, const ConstFrame& in);

/// Returns the histograms from which the tables are made: that of the luminance, or those of red,
/// green and blue.
std::vector<std::vector<std::uint32_t>> defined_histograms(
    const FrameLayout& layout, histequalize::Parameters::Channels channels, const ConstFrame& in);

/// Returns the new level for each level.
std::vector<int> defined_table(const std::vector<std::uint32_t>& histogram, int low, int high);

/// Writes every byte of every row of out except chroma that is not copied, with a table for each of
/// defined_histograms().
void defined_mapping(const FrameLayout& layout, const histequalize::Parameters& parameters,
                     const std::vector<std::vector<int>>& tables, const ConstFrame& in,
                     const Frame& out);

/// Writes every byte of every row of out except chroma that is not copied.
void defined_equalization(const FrameLayout& layout, const histequalize::Parameters& parameters,
                          const ConstFrame& in, const Frame& out);

/// Equalises the frames of a video with smoothing.
class DefinedSmoothedEqualize : public DefinedSmoothing {
 public:
  /// Writes every byte of every row of out except chroma that is not copied.
  void next(const FrameLayout& layout, const histequalize::Parameters& parameters,
            const histogramaverage::Parameters& smoothing, const ConstFrame& in, const Frame& out);
};

}  // namespace cudavision::test
