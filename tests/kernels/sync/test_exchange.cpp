// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the exchange of counts between blocks. CPU threads run the blocks for ThreadSanitizer.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "cuda/sync/histogramexchange.h"
#include "tests/kernels/common/settings.h"
#include "tests/kernels/sync/block_threads.h"

namespace cudavision::test {
namespace {

using Atomics = StdAtomics<std::uint32_t>;

constexpr int kBins = 24;
using Exchange = HistogramExchange<Atomics, kBins, 4>;

/// Runs one block of a launch with the steps of the kernel, in the same order.
std::vector<std::uint32_t> run_block(Exchange::Word* state, int block, int blocks,
                                     const std::vector<std::uint32_t>& own, std::uint32_t total,
                                     std::uint64_t seed) {
  Random random(seed);
  delay(random);
  const Exchange exchange(state);
  if (block == 0)
    for (int i = 0; i < Exchange::clearable; ++i)
      exchange.clear(i);
  for (int bin = 0; bin < kBins; ++bin) {
    delay(random);
    exchange.add(block, bin, own[bin]);
  }
  delay(random);
  exchange.arrive();
  while (!exchange.all_arrived(blocks))
    std::this_thread::yield();
  std::vector<std::uint32_t> sums(kBins);
  do {
    delay(random);
    for (int bin = 0; bin < kBins; ++bin) {
      sums[bin] = 0;
      for (int copy = 0; copy < Exchange::copies; ++copy)
        sums[bin] += Atomics::load(exchange.bin(bin) + copy * kBins);
    }
  } while (std::accumulate(sums.begin(), sums.end(), 0u) != total);
  delay(random);
  if (block == 0)
    exchange.flip();
  return sums;
}

TEST(HistogramExchange, EveryBlockSeesTheCompleteSumInEveryLaunch) {
  std::vector<Exchange::Word> state(Exchange::words);
  for (auto& word : state)
    word = 0;
  Random random(settings().seed);
  for (int launch = 0; launch < 150; ++launch) {
    const int blocks = random.between(1, 9);
    std::vector<std::vector<std::uint32_t>> counts(blocks, std::vector<std::uint32_t>(kBins));
    std::vector<std::uint32_t> expected(kBins);
    for (auto& block : counts)
      for (int bin = 0; bin < kBins; ++bin)
        expected[bin] += block[bin] = random.between(0, 2) == 0 ? 0 : random.between(0, 100000);
    const std::uint32_t total = std::accumulate(expected.begin(), expected.end(), 0u);

    std::vector<std::vector<std::uint32_t>> seen(blocks);
    std::vector<std::thread> threads;
    for (int block = 0; block < blocks; ++block)
      threads.emplace_back([&, block, seed = random.next()] {
        seen[block] = run_block(state.data(), block, blocks, counts[block], total, seed);
      });
    for (auto& thread : threads)
      thread.join();
    for (int block = 0; block < blocks; ++block)
      ASSERT_EQ(seen[block], expected) << "launch " << launch << ", block " << block;

    // The next launch clears the idle set before any launch reads it, so any values are allowed.
    const int idle = static_cast<int>(state[0] & 1) ^ 1;
    state[Exchange::arrivals_at(idle)] = static_cast<std::uint32_t>(random.next());
    for (int i = 0; i < Exchange::clearable; ++i)
      state[Exchange::counts_at(idle) + i] = static_cast<std::uint32_t>(random.next());
  }
}

}  // namespace
}  // namespace cudavision::test
