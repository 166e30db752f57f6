// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cuda/core/parallel.h"

namespace cudavision {
namespace {

std::vector<int> calls_of(int count) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
  parallel_for(count, [&](int number) { ++calls[number]; });
  return {calls.begin(), calls.end()};
}

TEST(ParallelLoops, CallEachNumberOnce) {
  for (const int count : {0, 1, 2, 3, 64, 1000})
    EXPECT_EQ(calls_of(count), std::vector<int>(static_cast<std::size_t>(count), 1)) << count;
}

TEST(ParallelLoops, MayRunInLoops) {
  std::atomic<int> calls = 0;
  parallel_for(7, [&](int) { parallel_for(9, [&](int) { ++calls; }); });
  EXPECT_EQ(calls, 63);
}

TEST(ParallelLoops, ThrowWhatTheirBodyThrows) {
  for (const int count : {1, 50}) {
    EXPECT_THROW(parallel_for(count, [](int) { throw std::runtime_error("any"); }),
                 std::runtime_error);
    EXPECT_EQ(calls_of(count), std::vector<int>(static_cast<std::size_t>(count), 1));
  }
}

void run_in_threads(int threads, const std::function<void()>& run) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back(run);
  for (std::thread& thread : all)
    thread.join();
}

// There are more loops than arenas. Each loop waits until all have begun.
TEST(ParallelLoops, RunAtOnceInAnyNumber) {
  constexpr int loops = 300;
  std::atomic<int> begun = 0;
  run_in_threads(loops, [&] {
    std::atomic<bool> first = true;
    parallel_for(2, [&](int) {
      if (first.exchange(false))
        ++begun;
      while (begun < loops)
        std::this_thread::yield();
    });
  });
  EXPECT_EQ(begun, loops);
}

// A forked child has none of the parent's pool threads.
TEST(ParallelLoops, RunAfterAFork) {
  calls_of(64);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (int i = 0; i < 100; ++i)
      if (calls_of(64) != std::vector<int>(64, 1))
        _exit(1);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

struct TwoPieces {
  TwoPieces(Scratch& scratch, int count)
      : bytes(scratch.take<std::uint8_t>(static_cast<std::size_t>(count))),
        words(scratch.take<std::uint32_t>(static_cast<std::size_t>(count), 3)) {}

  std::uint8_t* bytes;
  std::uint32_t* words;
};

TEST(Bands, ShareOutRowsAndScratchMemory) {
  const auto device = make_cpu_device();
  for (const int threads : {1, 3, 8})
    for (const int rows : {1, 2, 7, 64}) {
      tbb::task_arena(threads).execute([&] {
        constexpr int count = 33;
        const Bands bands(*device, rows, scratch_bytes<TwoPieces>(count));
        EXPECT_EQ(bands.count(), std::min(threads, rows));
        std::vector<std::atomic<int>> calls(static_cast<std::size_t>(rows)), others(100);
        bands.for_each([&](Band& band) {
          for (int y = band.begin; y < band.end; ++y)
            ++calls[y];
          const Band other = band.of(100);
          for (int y = other.begin; y < other.end; ++y)
            ++others[y];
          const TwoPieces pieces(band.scratch, count);
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.bytes) % 64, 0u);
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.words - 3) % 64, 0u);
          std::fill_n(pieces.bytes, count, static_cast<std::uint8_t>(band.number));
          std::fill_n(pieces.words - 3, count + 6, static_cast<std::uint32_t>(band.number));
        });
        EXPECT_EQ(std::vector<int>(calls.begin(), calls.end()), std::vector<int>(calls.size(), 1));
        EXPECT_EQ(std::vector<int>(others.begin(), others.end()), std::vector<int>(100, 1));
        for (int number = 0; number < bands.count(); ++number) {
          Band band = bands.band(number);
          const TwoPieces pieces(band.scratch, count);
          EXPECT_EQ(std::count(pieces.bytes, pieces.bytes + count, number), count);
          EXPECT_EQ(std::count(pieces.words - 3, pieces.words + count + 3, number), count + 6);
        }
      });
    }
}

TEST(ForRows, CallsEachRowOnce) {
  for (const int rows : {0, 1, 5, 200}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(rows));
    for_rows(rows, [&](int y) { ++calls[y]; });
    EXPECT_EQ(std::vector<int>(calls.begin(), calls.end()), std::vector<int>(calls.size(), 1));
  }
}

#if !defined(CUDAVISION_TEST_SANITIZED) && !defined(__SANITIZE_THREAD__)
long long resident_bytes() {
  malloc_trim(0);
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*d %ld", &pages) != 1)
    ADD_FAILURE() << "/proc/self/statm cannot be read";
  std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

void expect_leaves_less(long long bytes, const std::function<void()>& run) {
  run();
  long long grown = 0;
  for (int tries = 0; tries < 3; ++tries) {
    const long long before = resident_bytes();
    run();
    grown = resident_bytes() - before;
    if (grown < bytes)
      return;
  }
  ADD_FAILURE() << grown << " bytes";
}

void run_loops(int loops) {
  for (int i = 0; i < loops; ++i)
    calls_of(64);
}

// Every stream has its own thread. TBB's implicit arena would leak 4 to 9 kB for each thread.
TEST(ParallelLoops, LeaveNothingOfThreads) {
  expect_leaves_less(256 * 1024, [] {
    for (int i = 0; i < 300; ++i)
      run_in_threads(1, [] { run_loops(10); });
  });
}

// Each task that TBB reserves for another thread would leak 256 bytes.
TEST(ParallelLoops, LeaveNothingIfTbbIsLimited) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  expect_leaves_less(256 * 1024, [] { run_loops(5000); });
}

TEST(ParallelLoops, LeaveNothingBesideOthers) {
  expect_leaves_less(1024 * 1024, [] { run_in_threads(16, [] { run_loops(500); }); });
}
#endif

}  // namespace
}  // namespace cudavision
