// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: bands of rows that are matched at once, from top to bottom. They share the memory
// if the sums of all rows exceed the budget.

#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

struct BandPlan {
  int rows8;   ///< 0 if Match8Cuda does not support the config
  int rows16;  ///< for AggregateCuda
};

/// Uses the fewest bands within Config::memory_budget. Throws Error if 16 rows exceed it.
BandPlan bands_within_budget(const StageConfig& config);
/// Returns bands of `rows` rows. rows8 is rounded up to whole units.
BandPlan bands_of(const StageConfig& config, int rows);

std::size_t sums16_bytes(const StageConfig& config, int rows);

}  // namespace cudavision::sgm
