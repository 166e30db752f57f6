// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

/// Counts the allocations of host memory, in all threads of this process and by whatever library.
namespace check {

/// Reason for ADD_TEST_UNLESS: a sanitizer's allocator is not counted.
std::string unless_allocations_count();

class AllocationCount {
 public:
  void start();
  void stop();
  long total() const { return total_; }

 private:
  long total_ = 0;
};

}  // namespace check
