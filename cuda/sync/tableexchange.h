// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Several blocks of one launch add counts for a table. The last block to arrive makes the table.
//
// The operations are not ordered, so an arrival may become visible before earlier additions. The
// last block therefore waits until the sum of the counts has the expected value.
//
// Atomics supplies relaxed operations on 32-bit words: instructions on the GPU, std::atomic in the
// tests, so that ThreadSanitizer checks the protocol.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// One thread of each of the `blocks` blocks of a table calls this once, after the additions of its
/// block. Returns true in the last block. arrivals is a word of the table, 0 before all launches.
template <class Atomics>
CUDAVISION_HOST_DEVICE bool arrive_last(typename Atomics::Word* arrivals, std::uint32_t blocks) {
  if (Atomics::fetch_add(arrivals, 1) + 1 != blocks)
    return false;
  Atomics::store(arrivals, 0);  // for the next launch
  return true;
}

}  // namespace cudavision
