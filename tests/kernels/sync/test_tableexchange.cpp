// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests how blocks count for tables, make these and use them. Threads stand in for the blocks and
// std::atomic for the words in device memory, so that ThreadSanitizer sees every access.

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "cuda/sync/tableexchange.h"
#include "cuda/sync/tileexchange.h"
#include "tests/kernels/common/settings.h"
#include "tests/kernels/sync/block_threads.h"

namespace cudavision::test {
namespace {

using Atomics = StdAtomics<std::uint32_t>;
using Word = Atomics::Word;

constexpr int kTables = 3;
constexpr int kBins = 4;
constexpr int kContributors = 2;
constexpr int kBlocks = kTables * kContributors + 1;  // one only uses the tables

struct Memory {
  Word counts[kTables][kBins] = {};
  Word arrivals[kTables] = {};
  Word tables[kTables][kBins] = {};  // two bytes in each word
  Word launches[LaunchEpoch<Atomics>::words] = {};
};

/// Does the work of one block of a launch, with the same steps in the same order as the kernel:
/// adds `count` to each bin of its table, of which all bins together must count `total`. Returns
/// the sum of all entries.
std::uint32_t run_block(Memory& memory, int block, std::uint32_t count, std::uint32_t total,
                        std::uint64_t seed) {
  Random random(seed);
  const LaunchEpoch<Atomics> launches(memory.launches);
  const std::uint32_t tag = TaggedBytes::tag(launches.current());
  const int table = block / kContributors;
  if (table < kTables) {
    for (Word& bin : memory.counts[table]) {
      delay(random);
      Atomics::add(&bin, count);
    }
    delay(random);
    if (TableArrivals<Atomics>(memory.arrivals).arrive_last(table, kContributors)) {
      std::uint32_t counts[kBins], sum = 0;
      do {
        delay(random);
        sum = 0;
        for (int bin = 0; bin < kBins; ++bin)
          sum += counts[bin] = Atomics::load(&memory.counts[table][bin]);
      } while (sum != total);
      for (int bin = 0; bin < kBins; ++bin) {
        delay(random);
        Atomics::store(&memory.counts[table][bin], 0);
        Atomics::store(&memory.tables[table][bin],
                       (counts[bin] & 0xff) | (counts[bin] >> 8 & 0xff) << 16 | tag);
      }
    }
  }
  delay(random);
  const std::uint32_t retired_before = launches.retire();
  std::uint32_t sum = 0;
  for (auto& entries : memory.tables)
    for (const Word& entry : entries) {
      std::uint32_t word = Atomics::load(&entry);
      while (!TaggedBytes::complete(word, tag)) {
        delay(random);
        word = Atomics::load(&entry);
      }
      sum += (word & 0xff) + (word >> 16 & 0xff) * 256;
    }
  launches.advance_if_last(retired_before, kBlocks);
  return sum;
}

TEST(TableExchange, EveryBlockSeesTheTablesOfItsLaunch) {
  Memory memory;
  for (std::uint32_t launch = 1; launch < 300; ++launch) {
    const std::uint32_t count = launch * 97 % 30000 + 1;
    const std::uint32_t total = count * kContributors * kBins;
    std::vector<std::uint32_t> sums(kBlocks);
    std::vector<std::thread> threads;
    for (int block = 0; block < kBlocks; ++block)
      threads.emplace_back([&, block] {
        sums[static_cast<std::size_t>(block)] =
            run_block(memory, block, count, total,
                      settings().seed + launch * 100 + static_cast<std::uint32_t>(block));
      });
    for (std::thread& thread : threads)
      thread.join();
    for (int block = 0; block < kBlocks; ++block)
      ASSERT_EQ(sums[static_cast<std::size_t>(block)], kTables * total)
          << "launch " << launch << ", block " << block;
  }
}

TEST(TaggedBytes, AreCompleteOnlyWithTheTagOfTheirLaunch) {
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch)
    for (std::uint32_t other = 0; other <= 3; ++other)
      for (const std::uint32_t bytes : {0u, 0xff0000u, 0x1200ffu}) {
        const std::uint32_t word = bytes | TaggedBytes::tag(other);
        EXPECT_EQ(TaggedBytes::complete(word, TaggedBytes::tag(epoch)), epoch == other);
      }
}

}  // namespace
}  // namespace cudavision::test
