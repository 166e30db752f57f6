// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Chooses how kernels read and write the pixels of a frame, by its layout and its addresses.

#include <vector>

#include "cuda/core/frame.h"
#include "cuda/pixels/packed_image.h"

namespace cudavision {

/// Each pattern is a pack type of pixel_pack.h.
enum class AccessPattern {
  luma_bytes_1,    ///< LumaBytes<1, 0>
  luma_bytes_2_0,  ///< LumaBytes<2, 0>
  luma_bytes_2_1,  ///< LumaBytes<2, 1>
  luma_words,
  packed_colour_3,
  packed_colour_4,
  planar_colour,
  scattered_luma_1,
  scattered_luma_2,
  scattered_colour,
};

struct CopyPieces {
  PlanePair plane;
  std::uint32_t count = 0;  ///< pieces of 16 bytes; the last one of each row may be shorter
  int per_row = 1;          ///< pieces
  int row_bytes = 0;
  int rows = 0;
};

struct AccessPlan {
  AccessPattern kind = AccessPattern::scattered_luma_1;
  Rows rows = Rows::ragged;
  PackedImage packs;
  int copy_count = 0;
  CopyPieces copies[FrameLayout::max_planes];  ///< none if scattered()
  bool scattered() const noexcept { return kind >= AccessPattern::scattered_luma_1; }
};

/// Finds the fastest access pattern for each frame of one layout.
class AccessPlanner {
 public:
  explicit AccessPlanner(const FrameLayout& layout);

  /// out has no planes if the frame is only read.
  AccessPlan plan(const ConstFrame& in, const Frame& out) const;

  /// Planes with bytes that scattered packs do not write; copy them entirely before the kernel.
  const std::vector<int>& mixed_planes() const noexcept { return mixed_planes_; }

 private:
  bool aligned(const ConstFrame& in, const Frame& out) const;

  FrameLayout layout_;
  bool colour_;
  AccessPattern dense_kind_;  ///< for frames with aligned rows
  std::vector<int> untouched_planes_;
  std::vector<int> mixed_planes_;
  Channel channels_[3];
};

}  // namespace cudavision
