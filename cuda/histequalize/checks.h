// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Checks that the operations of this folder share. They throw invalid_argument.

#include "cuda/histequalize/histequalize.h"

namespace cudavision::histequalize {

constexpr char operation[] = "histogram equalisation";

void check_parameters(const FrameLayout& layout, const Parameters& parameters);

/// Checks that bins is one row of 2^bits counts.
void check_bins(const FrameLayout& layout, View<std::uint32_t> bins);

}  // namespace cudavision::histequalize
