// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>

#include "cuda/core/frame.h"
#include "cuda/regions/activecells.h"
#include "cuda/regions/regions.h"

namespace cudavision::regions {

/// The regions of a frame, without empty ones.
struct RegionList {
  int count = 0;
  std::array<Region, Parameters::max_count> regions;
};

/// The parameters, converted for frames of one layout.
struct Selection {
  RegionList regions;
  /// Cells with pixels of samples whose weights may differ from 0. Invalid if `everywhere`.
  ActiveCells active;
  bool everywhere = false;
};

/// Throws invalid_argument for parameters outside their ranges. Errors begin with `operation`.
Selection select(const char* operation, const FrameLayout& layout, const Parameters& parameters);

}  // namespace cudavision::regions
