// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/parallel.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>

namespace cudavision {
namespace {

/// A TBB arena that runs one loop at a time. The alternatives cost memory or time:
/// - Each thread without an arena gets one from TBB. TBB does not free this arena of 4 to 9 kB when
///   the thread ends.
/// - If all loops share an arena with one slot per core, threads wait for slots: 16 pipelines
///   on two cores lost half of the frame rate.
/// - If the shared arena has 32 slots for callers, the workers look for tasks in empty slots: one
///   pipeline lost a tenth of its frame rate.
struct LoopArena {
  std::atomic<bool> taken;
  tbb::task_arena* arena;  ///< never destroyed, because loops may still run at program exit
};

// If all arenas are in use, a loop runs in the calling thread. The array is zero-initialised and
// has no lock, which a fork could leave locked.
constexpr int max_arenas = 256;
constinit LoopArena arenas[max_arenas];

class ArenaLease {
 public:
  ArenaLease() {
    // Takes the first free arena, so that no more arenas are created than loops run at once.
    for (LoopArena& each : arenas)
      if (!each.taken.load(std::memory_order_relaxed) &&
          !each.taken.exchange(true, std::memory_order_acquire)) {
        leased_ = &each;
        return;
      }
  }
  ~ArenaLease() {
    if (leased_ != nullptr)
      leased_->taken.store(false, std::memory_order_release);
  }
  ArenaLease(const ArenaLease&) = delete;
  ArenaLease& operator=(const ArenaLease&) = delete;

  /// nullptr if all arenas are in use.
  tbb::task_arena* arena() const {
    if (leased_ != nullptr && leased_->arena == nullptr)
      leased_->arena = new tbb::task_arena;
    return leased_ != nullptr ? leased_->arena : nullptr;
  }

 private:
  LoopArena* leased_ = nullptr;
};

}  // namespace

int loop_concurrency() {
  return tbb::this_task_arena::max_concurrency();
}

void parallel_for(int count, void (*body)(const void*, int), const void* function) {
  const auto run = [=](int begin, int end) {
    for (int number = begin; number < end; ++number)
      body(function, number);
  };
  if (count < 2)
    return run(0, count);
  const ArenaLease lease;
  if (lease.arena() == nullptr)
    return run(0, count);
  // static_partitioner would keep 256 bytes per thread until the thread takes its task, which never
  // happens if TBB is limited to fewer threads.
  lease.arena()->execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, count),
        [&](const tbb::blocked_range<int>& range) { run(range.begin(), range.end()); },
        tbb::simple_partitioner());
  });
}

}  // namespace cudavision
