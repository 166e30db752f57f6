// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/regions/activecells.h"

/// Mosaic: hides what a picture shows under blocks of one colour each. Unlike a blur, it cannot be
/// undone: all that is left of a block is its mean or, with a given colour, nothing.
///
/// The blocks are squares of n×n pixels, numbered from the top left corner of the frame on; the
/// frame cuts off those at its right and lower edges. Sample (x, y) of a channel that has one
/// sample for s×t pixels belongs to the block in column (s·x) div n and row (t·y) div n: the one
/// that holds the first pixel that it covers. Each sample becomes the mean of its channel's samples
/// in its block, rounded to the nearest value, half up:
///   (Σ + count div 2) div count
/// or the colour's value for its channel. The fields of interlaced frames are pictures of their
/// own, with blocks of n columns by n rows of the field.
///
/// The blocks stay where they are when regions move. If they moved along, the means of successive
/// frames would show the same face in shifted grids, from which it could be computed in finer
/// detail.
namespace cudavision::mosaic {

/// All of these may change from one frame to the next.
struct Parameters {
  struct Ranges {
    static constexpr Range<int> block_size{2, 256};
  };

  int block_size = 16;  ///< in pixels
  bool solid = false;   ///< samples become `values` instead of means; block_size is not used
  /// One value per channel of the layout.
  std::array<std::uint16_t, FrameLayout::max_channels> values{};
  bool hide_alpha = true;  ///< false: alpha is copied
  bool fields = false;     ///< interlaced video: even and odd rows are pictures of their own

  bool operator==(const Parameters&) const = default;
};

class Mosaic {
 public:
  /// layout must be one that regions::check_plane_bytes() accepts. Throws invalid_argument for any
  /// other layout and for parameters outside the ranges above.
  Mosaic(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~Mosaic();

  /// Takes effect with the next run(). Never allocates. Throws invalid_argument and keeps the last
  /// valid set.
  void set_parameters(const Parameters& parameters);

  /// in and out have the layout's planes and do not overlap. Bytes that belong to no channel are
  /// copied. Only enqueues work on the device. With `active`, the output is undefined where no cell
  /// is active, and takes less time.
  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active = nullptr);

  class Backend;

 private:
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::mosaic
