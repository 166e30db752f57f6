// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Checks of this folder's operations. They throw invalid_argument.

#include "cuda/histequalize/histequalize.h"

namespace cudavision::histequalize {

constexpr char operation[] = "histogram equalisation";

void check_parameters(const FrameLayout& layout, const Parameters& parameters);

/// bins must be one row of 2^bits counts.
void check_bins(const FrameLayout& layout, View<std::uint32_t> bins);

}  // namespace cudavision::histequalize
