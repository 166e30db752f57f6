// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "cuda/core/error.h"

namespace cudavision {

/// Lets a thread wait for the device and for other threads at the same time.
class CompletionWait {
 public:
  /// Other threads call this when the result of ready() may have changed.
  void notify() {
    const std::lock_guard lock(state_->mutex);
    state_->changed.notify_all();
  }

  /// Waits until ready() returns true, or the device has finished the work or failed. Returns
  /// ready()'s last result. Only one thread may call this. Work is PendingGpuWork, except in tests.
  template <class Work, class Ready>
  bool wait(Work& work, const Ready& ready) {
    std::unique_lock lock(state_->mutex);
    if (ready())
      return true;
    lock.unlock();
    if (work.done())
      return false;
    // Shared, because the driver may run the callback after wait() has returned.
    const auto finished = std::make_shared<bool>(false);
    try {
      work.when_done([state = state_, finished] {
        const std::lock_guard guard(state->mutex);
        *finished = true;
        state->changed.notify_all();
      });
    } catch (const Error&) {
      return false;
    }
    lock.lock();
    state_->changed.wait(lock, [&] { return ready() || *finished; });
    return ready();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace cudavision
