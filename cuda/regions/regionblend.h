// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/regions/activecells.h"
#include "cuda/regions/regions.h"

/// Combines a frame with a processed version of it, as the weights of regions say (regions.h).
///
/// A sample becomes
///   out = in + ((w·(processed − in) + 128) >> 8)
/// where w is the weight of the sample, which is the largest of the pixels that it covers. The
/// formula is for values, and those of processed count as at most 2^bits − 1, as everywhere. Where
/// w is 0, the input's bytes stay as they are, unused bits of words included. Bytes that belong to
/// no channel are copied from the input.
namespace cudavision::regions {

class RegionBlend {
 public:
  /// layout must be one that check_plane_bytes() (planebytes.h) accepts. Throws invalid_argument
  /// for any other layout and for parameters outside the ranges of regions.h.
  RegionBlend(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~RegionBlend();

  /// Takes effect with the next run(). Never allocates; throws invalid_argument and keeps the last
  /// valid set.
  void set_parameters(const Parameters& parameters);

  /// Returns true if every pixel has the weight 0, so that frames come out exactly as they went in.
  bool identity() const noexcept { return !everywhere_ && !active_.any(); }

  /// Returns where the processed frame must be valid, or nullptr if that is everywhere.
  const ActiveCells* active() const noexcept { return everywhere_ ? nullptr : &active_; }

  /// The three frames have the layout's planes. out does not overlap the others. Where active() has
  /// no cell, processed is not read. Only enqueues.
  ///
  /// Call this directly after the operation that writes processed. On a CUDA device, what lies
  /// outside the regions is copied while that operation is still working. So the operation must
  /// neither write in nor use out, and at least one of its launches must let no other one start
  /// before grid_dependency_wait(), because in may have been written by the launch before it. Only
  /// where no cell is active at all, it may launch nothing.
  void run(const ConstFrame& in, const ConstFrame& processed, const Frame& out);

  class Backend;

 private:
  void use(const Parameters& parameters);

  FrameLayout layout_;
  Parameters parameters_;
  ActiveCells active_;
  bool everywhere_ = false;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::regions
