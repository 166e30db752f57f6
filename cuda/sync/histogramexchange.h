// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// Adds the histograms of all blocks of a grid, so that each block can read the sum, within one
/// launch and without a grid-wide barrier. All blocks of the launch must be resident.
///
/// Every block adds its counts to shared accumulators, and readers sum the accumulators. Counts are
/// never negative, so no word exceeds its final value. The sum over all bins equals the known
/// number of samples only if every word has its final value. A reader thus needs no other signal
/// that the sum is complete: each word must be atomic, but needs no fence and no order.
///
/// Launches alternate between two sets of accumulators. A launch adds to the set that the parity
/// word selects and clears the other set, which the previous launch no longer uses. Once a reader
/// in block 0 has the complete sum, every block has read the parity, because the counts of every
/// block are in the selected set. Block 0 may then flip the parity for the next launch. No launch
/// needs a memset, so a captured graph may be replayed any number of times.
///
/// Polling the counts delays the additions that the readers wait for. Readers therefore poll the
/// number of arrivals first, as a hint that the counts may be complete. Several copies of each set
/// spread the additions over the memory system.
///
/// Atomics supplies relaxed operations on 32-bit words, visible to all blocks:
///   load(const word*), store(word*, value), add(word*, value).
template <class Atomics, int kBins, int kCopies>
class HistogramExchange {
  static constexpr int line = 32;  // words of a cache line; the counters are in separate lines

 public:
  using Word = typename Atomics::Word;
  static constexpr int bins = kBins;
  static constexpr int copies = kCopies;
  /// Words of state, all zero before the first launch. Word 0 is the parity; the two sets begin at
  /// arrivals_at() and counts_at().
  static constexpr int words = line * 3 + 2 * kCopies * kBins;
  CUDAVISION_HOST_DEVICE static constexpr int arrivals_at(int set) { return line * (1 + set); }
  CUDAVISION_HOST_DEVICE static constexpr int counts_at(int set) {
    return line * 3 + set * kCopies * kBins;
  }

  CUDAVISION_HOST_DEVICE explicit HistogramExchange(Word* state)
      : state_(state), parity_(Atomics::load(state) & 1) {}

  /// Number of words that a launch clears for the next launch. Block 0 calls clear() for each word.
  static constexpr int clearable = kCopies * kBins;
  CUDAVISION_HOST_DEVICE void clear(int i) const {
    Atomics::store(counts(parity_ ^ 1) + i, 0);
    if (i == 0)
      Atomics::store(arrivals(parity_ ^ 1), 0);
  }

  CUDAVISION_HOST_DEVICE void add(int block, int bin, std::uint32_t count) const {
    if (count != 0)
      Atomics::add(counts(parity_) + (block % kCopies) * kBins + bin, count);
  }

  /// Every block calls this once, after it has issued its additions.
  CUDAVISION_HOST_DEVICE void arrive() const { Atomics::add(arrivals(parity_), 1); }
  CUDAVISION_HOST_DEVICE bool all_arrived(std::uint32_t blocks) const {
    return Atomics::load(arrivals(parity_)) == blocks;
  }

  /// Returns copy 0 of a bin. The other copies follow at distances of kBins words.
  CUDAVISION_HOST_DEVICE Word* bin(int number) const { return counts(parity_) + number; }

  /// Block 0 calls this after it has read the complete sum.
  CUDAVISION_HOST_DEVICE void flip() const { Atomics::store(state_, parity_ ^ 1); }

 private:
  CUDAVISION_HOST_DEVICE Word* arrivals(std::uint32_t set) const {
    return state_ + arrivals_at(static_cast<int>(set));
  }
  CUDAVISION_HOST_DEVICE Word* counts(std::uint32_t set) const {
    return state_ + counts_at(static_cast<int>(set));
  }

  Word* state_;
  std::uint32_t parity_;
};

}  // namespace cudavision
