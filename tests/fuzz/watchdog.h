// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace fuzz {

/// Ends the program with all stacks and the episode's number if an episode hangs or uses too much
/// memory.
class Watchdog {
 public:
  Watchdog();
  ~Watchdog();

  void begin(unsigned seed);

 private:
  void watch();
  [[noreturn]] void give_up(const char* why);

  const std::size_t memory_limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  unsigned seed_ = 0;
  unsigned long begun_ = 0;  ///< number of episodes begun
  std::thread thread_;
};

}  // namespace fuzz
