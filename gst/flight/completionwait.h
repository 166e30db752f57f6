// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "cuda/core/error.h"

namespace cudavision {

/// Lets a thread that has frames in flight wait for two things at once: that the device finishes
/// one of them, and that other threads bring what the next one needs.
class CompletionWait {
 public:
  /// Other threads call this after each change for which ready() may wait.
  void notify() {
    const std::lock_guard lock(state_->mutex);
    state_->changed.notify_all();
  }

  /// Waits until ready() holds, or until the device has finished the work, or has failed. Returns
  /// what ready() does then. Only one thread may call this. Work has the functions done() and
  /// when_done(call), see PendingGpuWork.
  template <class Work, class Ready>
  bool wait(Work& work, const Ready& ready) {
    std::unique_lock lock(state_->mutex);
    if (ready())
      return true;
    lock.unlock();
    if (work.done())
      return false;
    // The driver may call when nobody waits any more.
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
