// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/watchdog.h"

#include <glib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/check/common/backend.h"
#include "tests/check/common/faults/memoryuse.h"

namespace fuzz {

namespace {

// Under AddressSanitizer on two busy cores, episodes took 0.06 to 0.3 s on average. With CUDA,
// contexts are made and memory is page-locked, for which eight programs wait for each other.
int seconds_per_episode() {
  return check::testing_cuda() ? 60 : 20;
}
constexpr std::size_t growth_limit = std::size_t(2) << 30;

}  // namespace

Watchdog::Watchdog()
    : memory_limit_(check::resident_bytes() + growth_limit), thread_([this] { watch(); }) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::begin(unsigned seed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  seed_ = seed;
  ++begun_;
}

void Watchdog::watch() {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  std::unique_lock<std::mutex> lock(mutex_);
  unsigned long watched = 0;
  Clock::time_point since = Clock::now();
  while (!changed_.wait_for(lock, 100ms, [this] { return stopping_; })) {
    if (check::resident_bytes() > memory_limit_)
      give_up("takes ever more memory");
    if (begun_ != watched) {
      watched = begun_;
      since = Clock::now();
    } else if (Clock::now() - since > std::chrono::seconds(seconds_per_episode())) {
      give_up("hangs");
    }
  }
}

void Watchdog::give_up(const char* why) {
  std::fprintf(stderr, "episode %u %s\n", seed_, why);
  char command[128];
  std::snprintf(command, sizeof command,
                "gdb -p %d -batch -ex 'thread apply all backtrace 24' >&2 2>/dev/null", getpid());
  if (std::system(command) != 0)
    std::fprintf(stderr, "gdb, which would print the stacks of all threads, did not run\n");
  std::abort();
}

}  // namespace fuzz
