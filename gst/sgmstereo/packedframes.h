// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <string>

#include "cuda/core/frame.h"

/// Frames that hold both pictures of a pair.
namespace cudavision {

enum class Packing {
  none,          ///< one picture
  side_by_side,  ///< the left half and the right half
  top_bottom,    ///< the upper half and the lower half
};

struct FramePacking {
  Packing packing = Packing::none;
  bool right_first = false;  ///< the first half is what the right eye sees
  bool half_aspect = false;  ///< pixels are twice as wide (side by side) or high as the caps say

  bool packed() const noexcept { return packing != Packing::none; }
  bool operator==(const FramePacking& other) const noexcept {
    return packing == other.packing && right_first == other.right_first &&
           half_aspect == other.half_aspect;
  }
};

/// How frames of fixed caps are packed: by the property frame-packing, unless that is none, else by
/// the caps' multiview-mode. Throws ElementError for what cannot be taken apart without a copy.
FramePacking packing_of(const GstVideoInfo& info, GstVideoMultiviewFramePacking property);

/// Empty, or why frames of that size cannot be taken apart.
std::string wrong_with_halves(const FramePacking& packing, int width, int height);

/// The size of one picture in frames of width×height.
struct ViewSize {
  int width;
  int height;
};
ViewSize picture_size(const FramePacking& packing, int width, int height) noexcept;

/// The layout of one half: its luma, or its red, green and blue. Chroma and alpha say nothing about
/// disparities, and subsampled they may not come apart in the middle.
FrameLayout half_layout(const FramePacking& packing, const FrameLayout& whole);

/// One picture of a frame, in half_layout(): the left one or the right one. Where it lies.
ConstFrame half_of(const FramePacking& packing, const FrameLayout& whole, const ConstFrame& frame,
                   bool right);

}  // namespace cudavision
