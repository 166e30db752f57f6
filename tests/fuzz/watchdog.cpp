// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/watchdog.h"

#include <glib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/check/common/backend.h"
#include "tests/check/common/faults/memoryuse.h"

namespace fuzz {

namespace {

// Episodes take 0.06 to 0.3 s under AddressSanitizer. CUDA programs may wait for each other's work.
int seconds_per_episode() {
  return check::testing_cuda() ? 60 : 20;
}
constexpr std::size_t growth_limit = std::size_t(2) << 30;

using Seconds = std::chrono::duration<double>;

Seconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return Seconds(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}

bool others_run() {
  const std::string own = std::to_string(gettid());
  bool run = false;
  GDir* const folder = g_dir_open("/proc/self/task", 0, nullptr);
  while (const gchar* name = folder != nullptr ? g_dir_read_name(folder) : nullptr) {
    gchar* text = nullptr;
    const std::string file = std::string("/proc/self/task/") + name + "/stat";
    if (name != own && g_file_get_contents(file.c_str(), &text, nullptr, nullptr)) {
      const char* const state = std::strrchr(text, ')');  // follows the thread's name
      run = run || (state != nullptr && state[1] != '\0' && state[2] == 'R');
    }
    g_free(text);
  }
  if (folder != nullptr)
    g_dir_close(folder);
  return run;
}

/// Detects hangs, even on a busy machine: too much CPU time, or no running thread for too long.
class Progress {
 public:
  bool hangs(Seconds limit) {
    const Clock::time_point now = Clock::now();
    const Seconds used = processor_time();
    if (used - used_ > noticeable || others_run()) {
      last_ = now;
      used_ = used;
    }
    return used - begin_used_ > limit || now - last_ > limit;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // The watchdog itself uses a few ms per second.
  static constexpr Seconds noticeable{0.2};

  Clock::time_point last_ = Clock::now();
  Seconds begin_used_ = processor_time(), used_ = begin_used_;
};

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
  std::unique_lock<std::mutex> lock(mutex_);
  unsigned long watched = 0;
  Progress progress;
  while (!changed_.wait_for(lock, 100ms, [this] { return stopping_; })) {
    if (check::resident_bytes() > memory_limit_)
      give_up("takes ever more memory");
    if (begun_ != watched) {
      watched = begun_;
      progress = {};
    } else if (progress.hangs(Seconds(seconds_per_episode()))) {
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
