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
/// of their caps. Throws ElementError for unsupported packings.
FramePacking packing_of(const GstVideoInfo& info, GstVideoMultiviewFramePacking property);

/// Returns an error with its remedy if frames of width×height cannot be split, or an empty string.
std::string split_error(const FramePacking& packing, int width, int height);

struct PictureSize {
  int width, height;
};
PictureSize picture_size(const FramePacking& packing, int width, int height) noexcept;

/// Returns the layout of half of a packed frame: luma or red, green and blue, in the first planes.
FrameLayout half_layout(const FramePacking& packing, const FrameLayout& whole);

/// Returns true if frames are not packed, or if no chroma sample extends over both halves.
bool halves_have_chroma(const FramePacking& packing, const FrameLayout& whole);

/// Returns the left or right picture of a packed frame. `half` is half_layout() or, if
/// halves_have_chroma(), the layout of a frame with the picture's size and format.
ConstFrame half_of(const FramePacking& packing, const FrameLayout& half, const ConstFrame& frame,
                   bool right);

}  // namespace cudavision
