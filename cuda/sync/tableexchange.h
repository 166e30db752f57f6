// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Blocks of one launch count for tables, make these and use them. Several blocks count for a table.
// The one that arrives last makes it, and whichever block needs it waits for that. No block counts
// after it has waited. Hence the launch ends whatever their speed, as long as all of them are
// resident.
//
// No operation is ordered: an arrival may overtake the additions before it, and parts of a table
// become visible in any order. Therefore the block that arrived last waits until the counts have
// the sum that they must have, and every word of a table carries the epoch of its launch
// (tileexchange.h), so that it tells by itself whether it is complete. Nothing has to be cleared
// between launches, because each of them writes every table.
//
// Atomics supplies relaxed operations on words of 32 bits: instructions on the GPU, std::atomic in
// the tests, so that ThreadSanitizer sees the protocol.

#include <cstddef>
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

/// A word of a published table: two bytes, each below the epoch of the launch.
struct TaggedBytes {
  static constexpr std::uint32_t tag_mask = 0xff00ff00;

  CUDAVISION_HOST_DEVICE static constexpr std::uint32_t tag(std::uint32_t epoch) {
    return epoch << 8 | epoch << 24;
  }
  CUDAVISION_HOST_DEVICE static bool complete(std::uint32_t word, std::uint32_t tag) {
    return ((word ^ tag) & tag_mask) == 0;
  }
};

}  // namespace cudavision
