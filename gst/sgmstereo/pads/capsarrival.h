// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

namespace cudavision {

/// Lets one sink pad wait for the caps of the other one before it chooses its own. The wait is
/// short: one thread may feed both pads, and the other camera may be slow to start.
class CapsArrival {
 public:
  /// Waits until arrived() holds, one second after the first wait since reset(), or stop(). Does
  /// not wait if the other pad is waiting: one must choose first.
  void wait(const std::function<bool()>& arrived);
  /// Caps have arrived.
  void notify();

  void reset();
  /// Ends all waits, and prevents further ones until reset().
  void stop();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool waiting_ = false;
  bool stopped_ = true;
};

}  // namespace cudavision
