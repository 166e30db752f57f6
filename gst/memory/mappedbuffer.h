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

/// A mapped GstBuffer, as a frame. Holds a reference to the buffer, so no other element can write
/// to it. The layout comes from the GstVideoMeta or, without it, from libgstcuda for video in CUDA
/// memory, otherwise from the caps. Planes are checked against the bounds of their memory.
class MappedBuffer {
 public:
  /// access is GST_MAP_READ or GST_MAP_WRITE. CUDA memory of the context is mapped on the device,
  /// as are inputs on another device that the context can copy from. All other memory is mapped on
  /// the host, where page_locks, unless nullptr, may lock it. Throws ElementError if the buffer
  /// cannot be mapped or does not fit its caps.
  MappedBuffer(GstBuffer* buffer, const FrameFormat& format, GstMapFlags access,
               const CudaContext& context, PageLocks* page_locks);
  /// Throws ElementError if the buffer does not fit its caps. Does not map.
  static void require_whole_frame(GstBuffer* buffer, const FrameFormat& format);
  ~MappedBuffer() { unmap(); }
  MappedBuffer(const MappedBuffer&) = delete;
  MappedBuffer& operator=(const MappedBuffer&) = delete;

  GstBuffer* buffer() const noexcept { return buffer_; }
  const Frame& frame() const noexcept { return frame_; }
  /// Returns true if all memory is CUDA memory of the context. Other elements' work and an upload
  /// that mapping has enqueued may still run on the memory; StreamOrder waits for them.
  bool on_device() const noexcept { return on_device_; }
  /// Returns true if the memory is on another device, from which our device can only copy. All
  /// earlier work on the memory is finished.
  bool on_peer() const noexcept { return on_peer_; }
  const RowsPerPlane& locked_rows() const noexcept { return locked_rows_; }

 private:
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
  bool is_within(int plane, gint64 start, gint stride, gsize size) const;
  bool take_plane(int plane, guint8* data, gint stride, const GstMapInfo& map);
  void unmap() noexcept;
  [[noreturn]] void refuse_access() const;
  [[noreturn]] void refuse_size() const;
  const char* source() const;

  GstBuffer* const buffer_;
  OwnedBuffer owned_;  ///< empty while nothing is mapped
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
