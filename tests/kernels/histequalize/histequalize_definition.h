// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/histequalize/histequalize.h"
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

namespace cudavision::test {

std::vector<std::uint32_t> defined_histogram(const FrameLayout& layout, const ConstFrame& in);

std::vector<std::vector<std::uint32_t>> defined_histograms(
    const FrameLayout& layout, histequalize::Parameters::Channels channels, const ConstFrame& in);

std::vector<int> defined_table(const std::vector<std::uint32_t>& histogram, int low, int high);

/// Maps a frame's values by level(c, value, x, y). If channels are equalised separately, c is the
/// index of the RGB channel. Otherwise c is 0, and value is the luma or the luminance.
void defined_levels(const FrameLayout& layout, const histequalize::Parameters& parameters,
                    const ConstFrame& in, const Frame& out,
                    const std::function<int(std::size_t c, int value, int x, int y)>& level);

/// Maps values with `tables`, one for each histogram of defined_histograms().
void defined_mapping(const FrameLayout& layout, const histequalize::Parameters& parameters,
                     const std::vector<std::vector<int>>& tables, const ConstFrame& in,
                     const Frame& out);

void defined_equalization(const FrameLayout& layout, const histequalize::Parameters& parameters,
                          const ConstFrame& in, const Frame& out);

class DefinedSmoothedEqualize : public DefinedSmoothing {
 public:
  void next(const FrameLayout& layout, const histequalize::Parameters& parameters,
            const histogramaverage::Parameters& smoothing, const ConstFrame& in, const Frame& out);
};

}  // namespace cudavision::test
