// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Several blocks of one launch add counts for a table. The last block to arrive makes the table.
//
// The operations are not ordered, so an arrival may become visible before earlier additions. The
// last block therefore waits until the sum of the counts is the expected one: they are complete.
//
// Atomics supplies relaxed operations on 32-bit words: instructions on the GPU, std::atomic in the
// tests, so that ThreadSanitizer checks the protocol.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// Counts, for each table, the blocks that have added all their counts.
template <class Atomics>
class TableArrivals {
 public:
  using Word = typename Atomics::Word;

  /// state has one word per table, all zero before the first launch.
  CUDAVISION_HOST_DEVICE explicit TableArrivals(Word* state) : state_(state) {}

  /// One thread of each of the `blocks` blocks of a table calls this once, after the additions of
  /// its block. Returns true in the last block.
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
