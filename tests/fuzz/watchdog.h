// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace fuzz {

/// Ends the program, with the stacks of all threads if gdb is there, when an episode neither ends
/// in time nor keeps to its memory. Otherwise a hang would be a timeout of whatever runs the test,
/// which names no episode.
class Watchdog {
 public:
  Watchdog();
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void begin(unsigned seed);

 private:
  void watch();
  [[noreturn]] void give_up(const char* why);

  const std::size_t memory_limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  unsigned seed_ = 0;
  unsigned long begun_ = 0;  ///< number of episodes
  std::thread thread_;
};

}  // namespace fuzz
