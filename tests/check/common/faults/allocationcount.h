// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

/// Counts the allocations of host memory by all code of this process except the CUDA driver.
namespace check {

/// A reason to skip the test if a sanitizer replaces the allocator.
std::string unless_allocations_count();

class AllocationCount {
 public:
  void start();
  void stop();
  long total() const { return total_; }
  long bytes() const { return bytes_; }

 private:
  long total_ = 0, bytes_ = 0;
};

}  // namespace check
