// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

namespace check {

/// From now on, large blocks are returned to the system as soon as they are freed. Otherwise they
/// would leave holes of megabytes in the heap, which hide a leak from resident_bytes().
void return_freed_memory();

std::size_t resident_bytes();

/// Remembers the memory in use by this process and on the first GPU at its construction. In the
/// process, this counts both what the heap has given away, as its unused parts can hide a leak from
/// the system, and what is resident, for memory that does not come from the heap.
class MemoryUse {
 public:
  MemoryUse();
  /// Fails the test if either has grown by more than the given number of bytes. `what` describes
  /// the cause, for example "100 frames".
  void expect_grown_less(long long process, long long gpu, const std::string& what) const;

  long long process() const;
  long long gpu() const;

 private:
  long long gpu_;  // comes first because the query itself allocates host memory
  long long heap_, process_;
};

/// Calls run() and fails the test if more than the given numbers of bytes stay in use, by this
/// process or on the first GPU. As a leak shows each time, it calls run() up to five times until
/// less stays in use: now and then, a heap of another thread or a pool of the driver grows.
void expect_no_leak(const std::function<void()>& run, long long process, long long gpu,
                    const std::string& what);

/// Counts those tracked buffers that still exist.
class BufferCount {
 public:
  /// Counts the buffer until it is freed. Returns the buffer.
  GstBuffer* track(GstBuffer* buffer);
  int alive() const { return alive_; }

 private:
  std::atomic<int> alive_{0};
};

}  // namespace check
