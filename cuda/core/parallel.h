// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>

/// Compiles a hot loop for several instruction sets, of which the dynamic linker picks one.
/// Sanitizer builds do without this, because their runtime has not started yet when the linker
/// calls the resolvers.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CUDAVISION_TARGET_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CUDAVISION_TARGET_CLONES
#endif

namespace cudavision {

/// Returns the number of threads over which parallel loops are split: one for each core, or the
/// concurrency of the TBB arena that the caller is in.
int loop_concurrency();

/// Calls body(function, number) for 0 ≤ number < count, in parallel on the TBB threads of the
/// process, and returns when all calls have. Every parallel loop on the CPU goes through this.
void parallel_for(int count, void (*body)(const void* function, int number), const void* function);

/// Calls function(number) in the same way.
template <class Function>
void parallel_for(int count, const Function& function) {
  parallel_for(
      count, [](const void* data, int number) { (*static_cast<const Function*>(data))(number); },
      &function);
}

/// Rows [begin, end) of a picture, the work of one thread.
struct Band {
  int number;
  int begin;
  int end;
};

/// Splits the rows of a picture evenly over the threads of the TBB pool.
class Bands {
 public:
  explicit Bands(int rows) : rows_(rows), count_(std::clamp(loop_concurrency(), 1, rows)) {}

  int count() const noexcept { return count_; }

  /// The first of `rows` other rows that band `number` takes, where these are split as evenly.
  int first_of(int rows, int number) const noexcept {
    return static_cast<int>(static_cast<long long>(rows) * number / count_);
  }

  /// Calls function(Band) for every band, in parallel, and returns when all calls have.
  template <class Function>
  void for_each(const Function& function) const {
    parallel_for(count_, [&](int number) {
      function(Band{number, first_of(rows_, number), first_of(rows_, number + 1)});
    });
  }

 private:
  int rows_;
  int count_;
};

}  // namespace cudavision
