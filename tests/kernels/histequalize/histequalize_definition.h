// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/histequalize/histequalize.h"

/// Histogram equalisation written a second time, one pixel after the other, without any of the code
/// under test.
namespace cudavision::test {

/// Counts how often each luminance occurs.
std::vector<std::uint32_t> defined_histogram(const FrameLayout& layout, const ConstFrame& in);

/// The new level for each level.
std::vector<int> defined_table(const std::vector<std::uint32_t>& histogram, int low, int high);

/// Writes every byte of every row of out.
void defined_equalization(const FrameLayout& layout, const histequalize::Parameters& parameters,
                          const ConstFrame& in, const Frame& out);

}  // namespace cudavision::test
