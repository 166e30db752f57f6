// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>

#include "cuda/core/frame.h"
#include "gst/core/scoped.h"
#include "gst/core/videoformat.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/pagelocks.h"
#include "gst/memory/staging.h"

namespace cudavision {

/// A GstBuffer while it is mapped, as a frame. It holds a reference to the buffer, whose owners may
/// so give it up at any time, but cannot write to it while this lives. The planes lie where the
/// GstVideoMeta says, else where libgstcuda laid them out, else where the caps imply. Each is
/// checked against the bounds of its memory.
class MappedBuffer {
 public:
  /// access is GST_MAP_READ or GST_MAP_WRITE. CUDA memory of context is mapped on the device, and
  /// so is memory to read of another device that the context can copy from; all other memory is
  /// mapped on the host, where page_locks may lock it; nullptr if there is no use in that. Throws
  /// ElementError if the buffer cannot be mapped or is too small for its caps.
  MappedBuffer(GstBuffer* buffer, const FrameFormat& format, GstMapFlags access,
               const CudaContext& context, PageLocks* page_locks);
  /// Throws the ElementError with which mapping would refuse a buffer that does not hold a whole
  /// frame, but touches no memory.
  static void require_whole_frame(GstBuffer* buffer, const FrameFormat& format);
  ~MappedBuffer() { unmap(); }
  MappedBuffer(const MappedBuffer&) = delete;
  MappedBuffer& operator=(const MappedBuffer&) = delete;

  GstBuffer* buffer() const noexcept { return buffer_; }
  const Frame& frame() const noexcept { return frame_; }
  /// True if the device can work on this memory. The work of others on it may still be going on:
  /// what they have enqueued, and an upload that mapping enqueues where the CPU has written to it
  /// (see streamorder.h).
  bool on_device() const noexcept { return on_device_; }
  /// True if the memory is that of another device, and ours can only copy from it. All work on it
  /// is done.
  bool on_peer() const noexcept { return on_peer_; }
  /// The rows of each plane that the device can transfer without staging.
  const RowsPerPlane& locked_rows() const noexcept { return locked_rows_; }

 private:
  /// The positions of the planes in the buffer.
  struct Planes {
    const gsize* offset;
    const gint* stride;
  };

  MappedBuffer(GstBuffer* buffer, const FrameFormat& format, GstMapFlags access);  // does not map
  void examine_memory(const CudaContext& context);
  void map();
  void finish_peers_work() const;
  void find_locked_rows(PageLocks* page_locks);
  void check_meta() const;
  bool map_planes_by_meta();
  void map_whole();
  Planes planes() const;
  bool lies_within(int plane, gint64 start, gint stride, gsize size) const;
  bool take_plane(int plane, guint8* data, gint stride, const GstMapInfo& map);
  void unmap() noexcept;
  [[noreturn]] void refuse_access() const;
  [[noreturn]] void refuse_size() const;
  const char* source() const;

  GstBuffer* const buffer_;
  OwnedBuffer owned_;  ///< none while nothing is mapped
  const FrameFormat& format_;
  GstMapFlags flags_;
  GstVideoMeta* meta_ = nullptr;
  bool on_device_ = false;
  bool on_peer_ = false;
  RowsPerPlane locked_rows_{};
  Frame frame_;
  std::array<GstMapInfo, FrameLayout::max_planes> maps_{};
  int maps_by_meta_ = 0;
  bool mapped_whole_ = false;
};

}  // namespace cudavision
