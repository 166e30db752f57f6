// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Checks that the operations of this folder share. They throw invalid_argument.

#include "cuda/clahe/clahe.h"

namespace cudavision::clahe {

constexpr char operation[] = "adaptive histogram equalisation";

/// Checks the arguments of the constructors.
void check_geometry(const FrameLayout& layout, const Tiles& tiles);

void check_parameters(const FrameLayout& layout, const Parameters& parameters);

}  // namespace cudavision::clahe
