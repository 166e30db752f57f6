// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Several blocks of one launch count for a table, and the last block to arrive makes the table.
//
// Operations are not ordered: an arrival may overtake earlier additions. The last block therefore
// waits until the counts have their known sum. Counts only grow, so they are then complete.
//
// Atomics supplies relaxed operations on 32-bit words: instructions on the GPU, std::atomic in the
// tests, so that ThreadSanitizer checks the protocol.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// Counts the arrivals of the blocks that count for each table.
template <class Atomics>
class TableArrivals {
 public:
  using Word = typename Atomics::Word;

  /// state has one word per table, all zero before the first launch.
  CUDAVISION_HOST_DEVICE explicit TableArrivals(Word* state) : state_(state) {}

  /// Called once by one thread of each of the `blocks` that count for a table, after the block's
  /// additions. Returns true in the last block.
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
