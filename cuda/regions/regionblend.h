// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/regions/activecells.h"
#include "cuda/regions/regions.h"

/// Combines a frame with a processed version of it by the weights of regions (regions.h):
///   out = in + ((w·(processed − in) + 128) >> 8)
/// where the weight w is the maximum over the pixels that the sample covers. The formula applies to
/// values (core/frame.h). Where w is 0, the input's bytes are copied, including unused bits of
/// words. Bytes outside all channels are copied from the input.
namespace cudavision::regions {

class RegionBlend {
 public:
  /// layout must be accepted by check_plane_bytes() (planebytes.h). Throws invalid_argument for
  /// other layouts and for parameters outside the ranges of regions.h.
  RegionBlend(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~RegionBlend();

  /// Applies to later frames. Never allocates. On invalid_argument, the old parameters stay in use.
  void set_parameters(const Parameters& parameters);

  /// Returns true if all weights are known to be 0, so that the output equals the input.
  bool identity() const noexcept { return !parameters_.invert && !active_.any(); }

  /// Returns the cells where the processed frame must be valid, or nullptr for the whole frame.
  const ActiveCells* active() const noexcept { return parameters_.invert ? nullptr : &active_; }

  /// The three frames have the layout's planes. `out` must not overlap the other frames.
  /// Where active() has no cell, `processed` has no effect. Only enqueues.
  ///
  /// Call this directly after the operation that writes `processed`. A CUDA device may copy pixels
  /// outside the regions while the operation is still running. The operation must therefore
  /// neither write `in` nor use `out`. At least one launch of the operation must call
  /// launch_dependents() only after grid_dependency_wait(), because an earlier launch may have
  /// written `in`. If no cell is active, the operation may launch nothing.
  ///
  /// With masks, distances is MaskDistances::distances() of the frame, computed with a radius of at
  /// least mask_radius(). The distances must not change before the next launch of an operation.
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
