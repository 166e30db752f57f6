// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Loops of non-local means on the CPU, over a part of a row and with target clones.

#include <algorithm>
#include <cstdint>

#include "cuda/core/parallel.h"

namespace cudavision::nlmeans {

template <class Sample>
[[gnu::always_inline]] inline std::uint32_t squared_difference(Sample a, Sample b) {
  // The square of a negative difference is correct modulo 2^32.
  const std::uint32_t difference = std::uint32_t{a} - std::uint32_t{b};
  return difference * difference;
}

template <class Sample, class Sum>
CUDAVISION_TARGET_CLONES void add_squares(const Sample* a, const Sample* b, int count,
                                          Sum* __restrict columns) {
  for (int x = 0; x < count; ++x)
    columns[x] += squared_difference(a[x], b[x]);
}

template <class Sample, class Sum>
CUDAVISION_TARGET_CLONES void slide_squares(const Sample* a, const Sample* b, const Sample* old_a,
                                            const Sample* old_b, int count,
                                            Sum* __restrict columns) {
  for (int x = 0; x < count; ++x) {
    const Sum added = squared_difference(a[x], b[x]);
    columns[x] += added - squared_difference(old_a[x], old_b[x]);
  }
}

/// A table of weights, indexed by shifted sums of squared differences.
struct PatchWeights {
  const std::uint32_t* weights;
  std::uint32_t last;  ///< index of the last entry, which also holds for all larger indices
  int shift;
};

/// Finds the indices of the weights. before holds the running sums of the columns.
template <class Sum>
CUDAVISION_TARGET_CLONES void find_weights(const Sum* before, int count, int patch,
                                           const PatchWeights& table,
                                           std::uint32_t* __restrict indices) {
  const Sum last = table.last;
  const int shift = table.shift;
  for (int x = 0; x < count; ++x)
    indices[x] = static_cast<std::uint32_t>(
        std::min(static_cast<Sum>(before[x + patch] - before[x]) >> shift, last));
}

// No clones: they would use gather instructions, which many machines execute more slowly.
inline void look_up(const PatchWeights& table, const std::uint32_t* indices, int count,
                    std::uint32_t* __restrict values) {
  for (int x = 0; x < count; ++x)
    values[x] = table.weights[indices[x]];
}

template <class Sample, class Sum>
CUDAVISION_TARGET_CLONES void add_weighted(const std::uint32_t* weights, const Sample* samples,
                                           int count, Sum* __restrict sums) {
  for (int x = 0; x < count; ++x)
    sums[x] += Sum{weights[x]} * samples[x];
}

template <class Sum>
CUDAVISION_TARGET_CLONES void add_weights(const std::uint32_t* weights, int count,
                                          Sum* __restrict sums) {
  for (int x = 0; x < count; ++x)
    sums[x] += weights[x];
}

}  // namespace cudavision::nlmeans
