// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>
#include <string>

#include "cuda/core/frame.h"
#include "gst/base/scoped.h"

namespace cudavision {

/// What one side of an element carries: the shape of a frame, where its planes lie in a buffer that
/// does not say otherwise, and which memory the caps announce. For caps other than video/x-raw only
/// the planes of layout, offset, stride and size mean anything, and info has no format.
struct FrameFormat {
  FrameLayout layout;
  std::array<gsize, FrameLayout::max_planes> offset{};
  std::array<gint, FrameLayout::max_planes> stride{};
  gsize size = 0;
  GstVideoInfo info{};
  bool cuda_memory = false;
  int low = 0;  ///< range of the samples (of luma) by the caps' colorimetry
  int high = 255;

  bool is_video() const noexcept { return info.finfo != nullptr; }
  std::string description() const;  ///< "NV12, 640×480"
};

/// Reads fixed video/x-raw caps. Throws ElementError where they name a format, a size or a kind of
/// interlacing that the elements do not take.
FrameFormat frame_format_from_caps(const GstCaps* caps);

/// Whether the samples (of luma) are in 16 to 235, or as much of more bits, by the caps'
/// colorimetry or what is usual for the format where there is none.
bool is_limited_range(const GstVideoInfo& info);

/// All formats of the elements, in memory:CUDAMemory (where this build has CUDA) and in system
/// memory.
Caps video_template_caps();

}  // namespace cudavision
