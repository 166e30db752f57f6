// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>
#include <string>

#include "cuda/core/frame.h"
#include "cuda/repack/repack.h"
#include "gst/core/scoped.h"

namespace cudavision {

inline constexpr int largest_side = 65535;

/// Returns, for example, "640×480".
std::string size_text(int width, int height);
/// Returns, for example, "NV12", or "unknown format 9999".
std::string format_text(GstVideoFormat format);

/// The format of one pad's frames. offset and stride apply to buffers without GstVideoMeta, except
/// video in CUDA memory. A tensor has an empty `info`, one plane and no channels.
struct FrameFormat {
  FrameLayout layout;            ///< layout of frames that operations read or write
  repack::StoredLayout storage;  ///< layout of frames in buffers
  repack::UnpackedForm form = repack::UnpackedForm::channels;  ///< used if frames are unpacked
  std::array<gsize, FrameLayout::max_planes> offset{};
  std::array<gint, FrameLayout::max_planes> stride{};
  gsize size = 0;
  GstVideoInfo info{};
  bool cuda_memory = false;
  bool known_to_libgstcuda = true;  ///< libgstcuda has pools for this format
  int low = 0;  ///< low and high: nominal range of gray or luma; for RGB, the full range
  int high = 255;

  bool is_video() const noexcept { return info.finfo != nullptr; }
  /// Returns true if layout and storage differ.
  bool is_repacked() const noexcept { return repack::is_needed(storage, form); }
  std::string description() const;  ///< "NV12, 640×480", or "1000 bytes" for a tensor
};

/// form is the layout for frames that operations cannot read directly. Throws ElementError unless
/// caps are fixed video caps that the elements support.
FrameFormat frame_format_from_caps(const GstCaps* caps,
                                   repack::UnpackedForm form = repack::UnpackedForm::channels);

/// Returns true if gray or luma samples range from 16 to 235, scaled to the depth.
bool is_limited_range(const GstVideoInfo& info);

/// Returns video/x-raw of any size and framerate, without a format.
Structure any_frame();

/// Returns all supported formats in system memory and, if `cuda` and the build allow, CUDA memory.
Caps video_template_caps(bool cuda = true);

}  // namespace cudavision
