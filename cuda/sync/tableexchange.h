// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Several blocks of one launch count for a table, and the one that arrives last makes it.
//
// No operation is ordered: an arrival may overtake the additions before it. Therefore the block
// that arrived last waits until the counts have the sum that they must have. Counts only grow, so
// this sum is that of the complete counts.
//
// Atomics supplies relaxed operations on words of 32 bits: instructions on the GPU, std::atomic in
// the tests, so that ThreadSanitizer sees the protocol.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// Counts the arrivals of the blocks that count for each table.
template <class Atomics>
class TableArrivals {
 public:
  using Word = typename Atomics::Word;

  /// state has a word for each table, which are zero before the first launch.
  CUDAVISION_HOST_DEVICE explicit TableArrivals(Word* state) : state_(state) {}

  /// Each of the `blocks` that count for a table calls this once, from one thread, when it has
  /// issued its additions. Returns true in the last one.
  CUDAVISION_HOST_DEVICE bool arrive_last(int table, std::uint32_t blocks) const {
    if (Atomics::fetch_add(state_ + table, 1) + 1 != blocks)
      return false;
    Atomics::store(state_ + table, 0);  // for the next launch
    return true;
  }

 private:
  Word* state_;
};

}  // namespace cudavision
