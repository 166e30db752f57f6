// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/regions/activecells.h"
#include "cuda/regions/regions.h"

/// Combines a frame with a processed version of it by the weights of regions (regions.h):
///   out = in + ((w·(processed − in) + 128) >> 8)
/// where the weight w is the maximum of the pixels that the sample covers. The formula is for
/// values; values of processed are clamped to 2^bits − 1. Where w is 0, the input's bytes are
/// copied, including unused bits of words. Bytes outside all channels are copied from the input.
namespace cudavision::regions {

class RegionBlend {
 public:
  /// check_plane_bytes() (planebytes.h) must accept layout. Throws invalid_argument for other
  /// layouts and for parameters outside the ranges of regions.h.
  RegionBlend(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~RegionBlend();

  /// For later frames. Never allocates. Throws invalid_argument and keeps the last valid set.
  void set_parameters(const Parameters& parameters);

  /// True if every pixel has the weight 0, so that the output equals the input.
  bool identity() const noexcept { return !parameters_.invert && !active_.any(); }

  /// Where the processed frame must be valid; nullptr for everywhere.
  const ActiveCells* active() const noexcept { return parameters_.invert ? nullptr : &active_; }

  /// The three frames have the layout's planes. out does not overlap the others. Where active() has
  /// no cell, processed is not read. Only enqueues.
  ///
  /// Call this directly after the operation that writes processed. A CUDA device copies everything
  /// outside the regions while that operation is still working. The operation must therefore
  /// neither write in nor use out. At least one of its launches must let no other launch start
  /// before grid_dependency_wait(), because the launch before it may have written in. If no cell is
  /// active, the operation may launch nothing.
  ///
  /// With masks, distances has what MaskDistances found for the frame with a radius of at least
  /// mask_radius(). It must not change before the next launch of an operation.
  void run(const ConstFrame& in, const ConstFrame& processed, const Frame& out,
           View<const std::uint8_t> distances = {});

  class Backend;

 private:
  void use(const Parameters& parameters);

  FrameLayout layout_;
  Parameters parameters_;
  ActiveCells active_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::regions
