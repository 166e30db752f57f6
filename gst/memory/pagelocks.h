// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstddef>

#include "cuda/core/device.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/staging.h"

namespace cudavision {

/// Page-locks memory of others that comes back, as that of a buffer pool does, so that the device
/// transfers it directly instead of through Staging. An element has one of these for each context
/// that it works in.
///
/// Only memory that stays at its address as long as its GstMemory lives is locked: GStreamer's own,
/// memory that an application has wrapped, and the buffers that v4l2src maps. Of these, the pages
/// are locked that a frame fills as a whole. Its first and last page may hold other data, which
/// others may lock or free. Memory is locked when a frame lies in it for the third time: an element
/// in front that repeats a frame, such as videorate, lets the same memory appear twice before it is
/// freed, and locking it would take longer than copying it. It is unlocked before it is freed, or
/// when the last element that uses the lock stops. If locking fails, it is not tried again for that
/// memory.
///
/// One thread at a time calls an object; several objects may be called at once, and memory may be
/// freed by any thread at any time.
class PageLocks {
 public:
  /// Pages that are locked cannot be swapped or moved, so the rest must do for all other programs.
  static std::size_t quarter_of_physical_memory();

  /// The device locks memory in the context. Once all objects together have locked max_bytes,
  /// nothing further is locked until something is unlocked.
  PageLocks(Device& device, const CudaContext& context,
            std::size_t max_bytes = quarter_of_physical_memory());
  /// The device must have finished.
  ~PageLocks();
  PageLocks(const PageLocks&) = delete;
  PageLocks& operator=(const PageLocks&) = delete;

  /// Notes that a frame lies in the memory of this map. Returns the part of it that is page-locked,
  /// which stays so while it is mapped and this object lives. Call this once for each frame.
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
