// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstddef>

#include "cuda/core/device.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/staging.h"

namespace cudavision {

/// Page-locks other elements' memory that is used repeatedly, e.g. a buffer pool's, so that Staging
/// transfers it directly, without a copy on the host. An object serves one element in one context.
///
/// Only memory of at least 128 KiB with a constant address is locked: GStreamer's system memory,
/// memory that an application has wrapped, and v4l2src's buffers. Edge pages that may hold other
/// data are not locked. Memory is locked at its third use, because locking takes longer than
/// copying. videorate, for example, repeats a frame in memory that it then frees. Memory is
/// unlocked before it is freed, or when the last element that uses the lock stops. Failed locks
/// are not retried. One thread at a time may call an object; any thread may free memory.
class PageLocks {
 public:
  /// The default limit, which leaves enough pages that the system can swap.
  static std::size_t quarter_of_physical_memory();

  /// All objects together lock at most max_bytes.
  PageLocks(Device& device, const CudaContext& context,
            std::size_t max_bytes = quarter_of_physical_memory());
  /// The device's work must be finished.
  ~PageLocks();
  PageLocks(const PageLocks&) = delete;
  PageLocks& operator=(const PageLocks&) = delete;

  /// Call this once for each mapped memory of a frame. Returns the page-locked part of the map.
  /// This part stays locked at least until it is unmapped or this object is destroyed.
  ByteRange note(const GstMapInfo& map);

 private:
  struct Records;
  struct Record;
  class Lock;

  void lock(Record& record, const Records& records, const ByteRange& pages);

  Device& device_;
  const CudaContext context_;
  const std::size_t max_bytes_;
};

}  // namespace cudavision
