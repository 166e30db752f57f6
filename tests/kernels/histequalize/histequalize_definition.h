// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/histequalize/histequalize.h"

/// histequalize::Histogram equalisation written down a second time, one pixel after the other and
/// with nothing in common with the code under test.
namespace cudavision::test {

/// How often each luminance occurs.
std::vector<std::uint32_t> defined_histogram(const FrameLayout& layout, const ConstFrame& in);

/// The level that each level becomes.
std::vector<int> defined_table(const std::vector<std::uint32_t>& histogram, int low, int high);

/// Writes every byte of every row of out.
void defined_equalization(const FrameLayout& layout, const histequalize::Parameters& parameters,
                          const ConstFrame& in, const Frame& out);

}  // namespace cudavision::test
