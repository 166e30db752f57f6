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

/// The parameters as operations use them for frames of one layout.
struct Selection {
  RegionList regions;
  /// The cells with pixels of samples whose weights may differ from 0. They count only if
  /// `everywhere` is false.
  ActiveCells active;
  bool everywhere = false;
};

/// Throws invalid_argument if parameters are outside the ranges of regions.h. operation is the name
/// with which errors begin.
Selection select(const char* operation, const FrameLayout& layout, const Parameters& parameters);

}  // namespace cudavision::regions
