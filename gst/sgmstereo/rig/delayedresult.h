// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <future>
#include <system_error>

namespace cudavision {

inline constexpr int pairs_to_wait = 8;

/// The result of a background thread. Unless it is discarded, it is used exactly `pairs_to_wait`
/// pairs after begin(), so that the output is deterministic. The destructor waits for the thread.
template <class Result>
class DelayedResult {
 public:
  template <class Function>
  void begin(const Function& compute) {
    try {
      result_ = std::async(std::launch::async, compute);
    } catch (const std::system_error&) {  // no thread is available
      result_ = std::async(std::launch::deferred, compute);
    }
    pairs_ = pairs_to_wait;
  }

  bool is_pending() const noexcept { return result_.valid(); }
  /// Call this before each pair.
  bool is_due() noexcept { return is_pending() && --pairs_ <= 0; }
  /// Waits for the thread, and rethrows its exception.
  Result take() { return result_.get(); }

 private:
  std::future<Result> result_;
  int pairs_ = 0;  ///< number of pairs until the result is due
};

}  // namespace cudavision
