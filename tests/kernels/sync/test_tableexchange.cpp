// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests blocks that add counts to a common table. CPU threads run the blocks for ThreadSanitizer.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "cuda/sync/tableexchange.h"
#include "tests/kernels/common/settings.h"
#include "tests/kernels/sync/block_threads.h"

namespace cudavision::test {
namespace {

using Atomics = StdAtomics<std::uint32_t>;
using Word = Atomics::Word;

constexpr int kTables = 3;
constexpr int kBins = 4;
constexpr int kContributors = 3;
constexpr int kBlocks = kTables * kContributors;

struct Memory {
  Word counts[kTables][kBins] = {};
  Word arrivals[kTables] = {};
};

/// Runs a block with the kernel's steps. The last block to arrive at a table returns the complete
/// count of the last bin; other blocks return 0.
std::uint32_t run_block(Memory& memory, int block, std::uint32_t count, std::uint32_t total,
                        std::uint64_t seed) {
  Random random(seed);
  const int table = block / kContributors;
  for (Word& bin : memory.counts[table]) {
    delay(random);
    Atomics::add(&bin, count);
  }
  delay(random);
  if (!arrive_last<Atomics>(memory.arrivals + table, kContributors))
    return 0;
  std::uint32_t counts[kBins], sum = 0;
  do {
    delay(random);
    sum = 0;
    for (int bin = 0; bin < kBins; ++bin)
      sum += counts[bin] = Atomics::load(&memory.counts[table][bin]);
  } while (sum != total);
  for (Word& bin : memory.counts[table])
    Atomics::store(&bin, 0);
  return counts[kBins - 1];
}

TEST(TableExchange, OneBlockOfEachTableSeesTheCompleteCounts) {
  Memory memory;
  for (std::uint32_t launch = 1; launch < 120; ++launch) {
    const std::uint32_t count = launch * 97 % 30000 + 1;
    std::vector<std::uint32_t> counts(kBlocks);
    std::vector<std::thread> threads;
    for (int block = 0; block < kBlocks; ++block)
      threads.emplace_back([&, block] {
        counts[block] = run_block(memory, block, count, count * kContributors * kBins,
                                  settings().seed + launch * 100 + block);
      });
    for (std::thread& thread : threads)
      thread.join();
    for (int table = 0; table < kTables; ++table) {
      std::uint32_t sum = 0, makers = 0;
      for (int block = table * kContributors; block < (table + 1) * kContributors; ++block) {
        sum += counts[block];
        makers += counts[block] != 0;
      }
      ASSERT_EQ(makers, 1u) << "launch " << launch << ", table " << table;
      ASSERT_EQ(sum, count * kContributors) << "launch " << launch << ", table " << table;
    }
  }
}

}  // namespace
}  // namespace cudavision::test
