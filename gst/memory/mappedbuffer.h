// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>

#include "cuda/core/frame.h"
#include "gst/base/videoformat.h"
#include "gst/memory/libgstcuda.h"

namespace cudavision {

/// The planes of a GstBuffer while it is mapped, wherever its memory, its GstVideoMeta or its caps
/// say that they lie. Every plane is checked against the memory that it lies in.
class MappedBuffer {
 public:
  /// access: GST_MAP_READ or GST_MAP_WRITE. Memory of context is mapped where it is, on the device;
  /// all other memory on the host. Throws ElementError where the buffer cannot be mapped or is too
  /// small for its caps.
  MappedBuffer(GstBuffer* buffer, const FrameFormat& format, GstMapFlags access,
               const CudaContext& context);
  ~MappedBuffer() { unmap(); }
  MappedBuffer(const MappedBuffer&) = delete;
  MappedBuffer& operator=(const MappedBuffer&) = delete;

  const Frame& frame() const noexcept { return frame_; }
  bool on_device() const noexcept { return on_device_; }
  /// Host memory that the device transfers without staging.
  bool page_locked() const noexcept { return page_locked_; }

 private:
  void look_at_memory(const CudaContext& context);
  void map();
  void check_meta() const;
  const char* maker() const;
  bool map_planes_by_meta();
  void map_whole();
  bool take_plane(int plane, guint8* data, gint stride, const GstMapInfo& map);
  void unmap() noexcept;
  [[noreturn]] void refuse_access() const;
  [[noreturn]] void refuse_size() const;

  GstBuffer* const buffer_;
  const FrameFormat& format_;
  GstMapFlags flags_;
  GstVideoMeta* meta_ = nullptr;
  bool on_device_ = false;
  bool page_locked_ = false;
  Frame frame_;
  std::array<GstMapInfo, FrameLayout::max_planes> maps_{};
  int maps_by_meta_ = 0;
  bool mapped_whole_ = false;
};

}  // namespace cudavision
