// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>
#include <string>

#include "cuda/core/frame.h"
#include "cuda/repack/repack.h"
#include "gst/core/scoped.h"

namespace cudavision {

/// The largest width and height of frames.
inline constexpr int largest_side = 65535;

/// "640×480"
std::string size_text(int width, int height);
/// "NV12", or "unknown format 9999" if GStreamer does not know it
std::string format_text(GstVideoFormat format);

/// The frames on one side of an element: their shape, where their planes lie in a buffer without
/// GstVideoMeta, and the memory that the caps announce. For caps other than video/x-raw, only the
/// planes of layout and storage, offset, stride and size are set, and info has no format.
struct FrameFormat {
  FrameLayout layout;  ///< of frames as operations get them: unpacked where that is needed
  repack::StoredLayout storage;                                ///< how frames lie in buffers
  repack::UnpackedForm form = repack::UnpackedForm::channels;  ///< of unpacked frames
  std::array<gsize, FrameLayout::max_planes> offset{};
  std::array<gint, FrameLayout::max_planes> stride{};
  gsize size = 0;
  GstVideoInfo info{};
  bool cuda_memory = false;
  bool known_to_libgstcuda = true;  ///< libgstcuda has pools for this format
  int low = 0;  ///< nominal range of gray, luma or RGB samples, from the colorimetry of the caps
  int high = 255;

  bool is_video() const noexcept { return info.finfo != nullptr; }
  /// True if buffers hold the frames in another layout than operations get.
  bool is_repacked() const noexcept { return repack::is_needed(storage, form); }
  std::string description() const;  ///< "NV12, 640×480"
};

/// Reads video/x-raw caps. form is the one in which an operation takes frames that it cannot
/// read as they are. Throws ElementError if the elements do not support the memory, format, size or
/// interlace mode of the caps, or if they are not fixed, or caps of something else.
FrameFormat frame_format_from_caps(const GstCaps* caps,
                                   repack::UnpackedForm form = repack::UnpackedForm::channels);

/// True if gray or luma samples range from 16 to 235 (scaled to the depth), as the colorimetry says
/// or, without one, as is usual for the format.
bool is_limited_range(const GstVideoInfo& info);

/// video/x-raw of any size and framerate, without a format.
Structure any_frame();

/// Returns caps with all formats that the elements support, in memory:CUDAMemory (if this build has
/// CUDA) and in system memory.
Caps video_template_caps();

}  // namespace cudavision
