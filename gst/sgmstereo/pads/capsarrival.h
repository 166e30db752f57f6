// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "gst/base/warningtimeout.h"

namespace cudavision {

/// Lets a sink pad wait for the other sink pad's caps before the pad chooses its caps. The wait is
/// short, because one thread may feed both pads.
class CapsArrival {
 public:
  /// Waits until arrived() returns true or stop() is called, at most until a second after the first
  /// wait since reset(). Does not wait if the other pad waits, because one pad must choose first.
  void wait(const std::function<bool()>& arrived) {
    std::unique_lock lock(mutex_);
    if (waiting_ || stopped_)
      return;
    if (!deadline_)
      deadline_ = std::chrono::steady_clock::now() +
                  std::chrono::nanoseconds(warning_timeouts::other_caps.time);
    waiting_ = true;
    changed_.wait_until(lock, *deadline_, [&] { return stopped_ || arrived(); });
    waiting_ = false;
  }
  void notify() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  void reset() {
    const std::lock_guard lock(mutex_);
    deadline_.reset();
    stopped_ = false;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool waiting_ = false;
  bool stopped_ = true;
};

}  // namespace cudavision
