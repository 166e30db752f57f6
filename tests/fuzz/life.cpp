// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/life.h"

#include <signal.h>
#include <unistd.h>

#ifdef CUDAVISION_TEST_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/check/common/backend.h"
#include "tests/check/common/gstcheck.h"
#include "tests/check/common/testcase.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/hostile/hostilebuffers.h"
#include "tests/fuzz/watchdog.h"

namespace fuzz {

using namespace check;

namespace {

// Every action must have run within this time, with every backend.
constexpr gint64 max_time = 150 * G_USEC_PER_SEC;
constexpr unsigned fewest_episodes = 25;

// A crash prints this line. It is formatted in advance, because signal handlers can do little.
char episode_line[64];

void print_episode() {
  const char* end = episode_line;
  while (*end != '\0')
    ++end;
  if (write(STDERR_FILENO, episode_line, static_cast<std::size_t>(end - episode_line)) < 0)
    _exit(1);
}

void on_crash(int signal_number) {
  print_episode();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

unsigned long number_from(const char* variable, unsigned long otherwise) {
  const char* text = g_getenv(variable);
  return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

}  // namespace

void run_lives(const std::function<std::unique_ptr<Life>(unsigned, BufferCount&)>& make) {
  return_freed_memory();
  const unsigned long first = number_from("CUDAVISION_FUZZ_SEED", 1);
  const unsigned long seconds = number_from("CUDAVISION_FUZZ_SECONDS", full_run() ? 30 : 2);
  const gint64 start = g_get_monotonic_time();
  const gint64 end = start + static_cast<gint64>(seconds) * G_USEC_PER_SEC;
  for (int number : {SIGABRT, SIGTRAP})
    signal(number, on_crash);
#ifdef CUDAVISION_TEST_SANITIZED
  __sanitizer_set_death_callback(print_episode);  // after the sanitizer's report of the crash
#else
  for (int number : {SIGSEGV, SIGBUS, SIGFPE})
    signal(number, on_crash);
#endif
  std::atexit(print_episode);  // a failed check, or a GLib warning in any thread, exits
  std::size_t baseline_bytes = 0;
  unsigned episodes = 0;
  Watchdog watchdog;
  // A busy machine or GPU gets up to max_time to run enough episodes and every action.
  const gint64 last_end = std::max(end, start + max_time);
  while (g_get_monotonic_time() < end ||
         ((episodes < fewest_episodes || missing_action() != nullptr) &&
          g_get_monotonic_time() < last_end)) {
    const unsigned seed = static_cast<unsigned>(first) + episodes;
    std::snprintf(episode_line, sizeof episode_line, "failed in episode %u\n", seed);
    watchdog.begin(seed);
    BufferCount buffers;
    make(seed, buffers)->run();
    free_kept_buffers();
    fail_unless(buffers.alive() == 0, "episode %u leaked %d buffers", seed, buffers.alive());
    if (++episodes == 40)
      baseline_bytes = resident_bytes();
  }
  episode_line[0] = '\0';
  const double minutes =
      static_cast<double>(g_get_monotonic_time() - start) / (60.0 * G_USEC_PER_SEC);
  std::printf("%u episodes from seed %lu, %.0f per minute\n", episodes, first, episodes / minutes);
  print_actions();
  fail_unless(missing_action() == nullptr, "\"%s\" never ran in %u episodes: give it more weight",
              missing_action(), episodes);
  // Pools and the allocator's arenas may still grow, but by less than a leak in every episode.
  if (baseline_bytes != 0 && unless_sanitized().empty())
    fail_unless(resident_bytes() < baseline_bytes + (testing_cuda() ? 64u : 16u) * 1024 * 1024,
                "%u episodes leaked %lld bytes", episodes,
                static_cast<long long>(resident_bytes()) - static_cast<long long>(baseline_bytes));
}

}  // namespace fuzz
