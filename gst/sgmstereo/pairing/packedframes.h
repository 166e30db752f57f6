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
  bool half_aspect = false;  ///< pixels are twice as wide (side by side) or high as the caps say

  bool packed() const noexcept { return packing != Packing::none; }
  bool operator==(const FramePacking&) const = default;
};

/// Returns the packing of frames with fixed caps: the property frame-packing or, if that is none,
/// the multiview-mode of the caps. Throws ElementError for a packing that cannot be split without a
/// copy.
FramePacking packing_of(const GstVideoInfo& info, GstVideoMultiviewFramePacking property);

/// Returns an empty string, or why frames of width×height cannot be split.
std::string split_error(const FramePacking& packing, int width, int height);

/// The size of each picture in frames of width×height.
struct PictureSize {
  int width;
  int height;
};
PictureSize picture_size(const FramePacking& packing, int width, int height) noexcept;

/// Returns the layout of one half of a packed frame: its luma, or its red, green and blue. Chroma
/// and alpha have no influence on disparities, and subsampled chroma may not split in the middle.
FrameLayout half_layout(const FramePacking& packing, const FrameLayout& whole);

/// Returns the right or the left picture of a packed frame in place. Its layout is half_layout().
ConstFrame half_of(const FramePacking& packing, const FrameLayout& whole, const ConstFrame& frame,
                   bool right);

/// Returns true if frames are not packed, or if a half has whole samples of subsampled chroma, too.
bool halves_have_chroma(const FramePacking& packing, const FrameLayout& whole);

/// Returns the left picture of a packed frame in place, with all of its channels. half is the
/// layout of a frame of that size in the same format; halves_have_chroma() is true.
ConstFrame left_picture_of(const FramePacking& packing, const FrameLayout& half,
                           const ConstFrame& frame);

}  // namespace cudavision
