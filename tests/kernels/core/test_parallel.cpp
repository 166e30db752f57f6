// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <unistd.h>

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
  parallel_for(count, [&](int number) { ++calls[static_cast<std::size_t>(number)]; });
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

// There are fewer arenas than that. Each loop waits until all have begun.
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

// The child has none of the parent's other threads.
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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
long long resident_bytes() {
  malloc_trim(0);
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*d %ld", &pages) != 1)
    ADD_FAILURE() << "/proc/self/statm cannot be read";
  std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

/// Expects that less than `bytes` stay in use after run(). A leak shows each time.
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

// A streaming thread lives as long as its stream. TBB's own arena of each took 4 to 9 kB.
TEST(ParallelLoops, LeaveNothingOfThreads) {
  expect_leaves_less(256 * 1024, [] {
    for (int i = 0; i < 300; ++i)
      run_in_threads(1, [] { run_loops(10); });
  });
}

// Tasks that TBB reserves for a thread took 256 bytes each.
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
