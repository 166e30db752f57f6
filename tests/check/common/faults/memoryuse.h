// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

namespace check {

/// Makes free() return large blocks to the system from now on. Otherwise, new blocks would fill
/// holes in the heap, and leaks would not enlarge the process.
void return_freed_memory();

std::size_t resident_bytes();

/// Measures the growth since construction: of the heap, of resident memory (where unused parts of
/// the heap may hide leaks), and of the memory in use on the first GPU.
class MemoryUse {
 public:
  MemoryUse();
  /// Fails the test if the memory of the process or the GPU has grown by its limit, in bytes.
  /// `what` names the cause, such as "100 frames".
  void expect_grown_less(long long process, long long gpu, const std::string& what) const;

  long long process() const;
  long long gpu() const;

 private:
  long long gpu_;  // comes first because the query itself allocates host memory
  long long heap_, process_;
};

/// Fails the test if each of five calls of run() makes memory grow by one of the limits, in bytes.
void expect_no_leak(const std::function<void()>& run, long long process, long long gpu,
                    const std::string& what);

/// Counts the tracked buffers that still exist.
class BufferCount {
 public:
  /// Counts the buffer until it is freed. Returns the buffer.
  GstBuffer* track(GstBuffer* buffer);
  int alive() const { return alive_; }

 private:
  std::atomic<int> alive_{0};
};

}  // namespace check
