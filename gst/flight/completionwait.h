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
    {
      const std::lock_guard lock(state_->mutex);
      if (ready())
        return true;
    }
    if (work.done() || !ask(work))
      return false;
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return ready() || state_->answered == asked_; });
    return ready();
  }

 private:
  /// The driver may call when nobody waits any more.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned answered = 0;  ///< calls of the driver, which come in the order of asked_
  };

  // Returns false if the device cannot be asked, because it has failed.
  template <class Work>
  bool ask(Work& work) {
    const auto answer = [state = state_] {
      const std::lock_guard lock(state->mutex);
      ++state->answered;
      state->changed.notify_all();
    };
    try {
      work.when_done(answer);
    } catch (const Error&) {
      return false;
    }
    ++asked_;
    return true;
  }

  const std::shared_ptr<State> state_ = std::make_shared<State>();
  unsigned asked_ = 0;
};

}  // namespace cudavision
