// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <string>

#include "cuda/core/frame.h"

/// Packed frames hold both pictures of a pair, each in one half. Splitting them copies nothing.
namespace cudavision {

enum class Packing {
  none,          ///< one picture
  side_by_side,  ///< the left half and the right half
  top_bottom,    ///< the upper half and the lower half
};

struct FramePacking {
  Packing packing = Packing::none;
  bool right_first = false;  ///< the left or upper half is the right picture
  bool half_aspect = false;  ///< pixels are twice as wide (side by side) or high as in the caps

  bool packed() const noexcept { return packing != Packing::none; }
  bool operator==(const FramePacking&) const = default;
};

/// Returns the packing of frames: the property frame-packing or, if it is none, the multiview-mode
/// of their caps. Throws ElementError if splitting needs a copy.
FramePacking packing_of(const GstVideoInfo& info, GstVideoMultiviewFramePacking property);

/// Returns an empty string, or why frames of width×height cannot be split.
std::string split_error(const FramePacking& packing, int width, int height);

struct PictureSize {
  int width;
  int height;
};
PictureSize picture_size(const FramePacking& packing, int width, int height) noexcept;

/// Returns the layout of half a packed frame: its luma, or red, green and blue. Chroma and alpha do
/// not affect disparities, and subsampled chroma may not split in the middle.
FrameLayout half_layout(const FramePacking& packing, const FrameLayout& whole);

/// Copies nothing; the layout is half_layout().
ConstFrame half_of(const FramePacking& packing, const FrameLayout& whole, const ConstFrame& frame,
                   bool right);

/// Returns true if frames are not packed, or if halves have whole samples of chroma.
bool halves_have_chroma(const FramePacking& packing, const FrameLayout& whole);

/// Returns the left picture with all channels, without copying. half is the layout of a frame of
/// its size and format; halves_have_chroma() must be true.
ConstFrame left_picture_of(const FramePacking& packing, const FrameLayout& half,
                           const ConstFrame& frame);

}  // namespace cudavision
