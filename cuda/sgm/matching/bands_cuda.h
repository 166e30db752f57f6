// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the rows that are matched at once. If the sums of all rows exceed the memory
// budget, a picture is matched in bands of rows, from top to bottom, that share the memory.

#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

/// The rows of a band for sums of 8 and of 16 bits.
struct BandPlan {
  int rows8;   ///< 0 if Match8Cuda does not support the config
  int rows16;  ///< of AggregateCuda
};

/// Returns the fewest bands whose sums fit Config::memory_budget. Throws Error if a band of 16 rows
/// exceeds it.
BandPlan bands_within_budget(const StageConfig& config);
/// Returns bands of `rows` rows, rounded up to whole units where Match8Cuda needs them.
BandPlan bands_of(const StageConfig& config, int rows);

/// The bytes of `rows` rows of 16-bit sums.
std::size_t sums16_bytes(const StageConfig& config, int rows);

}  // namespace cudavision::sgm
