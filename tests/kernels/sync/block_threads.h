// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Helpers for tests that run the blocks of a grid as threads.

#include <atomic>
#include <thread>

#include "tests/kernels/common/random.h"

namespace cudavision::test {

/// Replaces the atomics of device memory, so that ThreadSanitizer checks every access.
template <class Number>
struct StdAtomics {
  using Word = std::atomic<Number>;
  using Value = Number;
  static Value load(const Word* word) { return word->load(std::memory_order_relaxed); }
  static void store(Word* word, Value value) { word->store(value, std::memory_order_relaxed); }
  static void add(Word* word, Value value) { fetch_add(word, value); }
  static Value fetch_add(Word* word, Value value) {
    return word->fetch_add(value, std::memory_order_relaxed);
  }
  static void wait() { std::this_thread::yield(); }
};

inline void delay(Random& random) {
  const int turns = random.between(0, 40);
  for (int i = 0; i < turns; ++i)
    if (i % 8 == 7)
      std::this_thread::yield();
    else
      std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace cudavision::test
