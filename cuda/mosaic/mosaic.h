// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/regions/activecells.h"

/// Mosaic: replaces each block of a picture by a single colour. Unlike a blur, a mosaic cannot be
/// undone: only the mean of a block remains or, with a given colour, nothing.
///
/// Blocks are squares of n×n pixels, starting at the top left corner of the frame and clipped at
/// its right and lower edges. Sample (x, y) of a channel with one sample per s×t pixels belongs to
/// the block in column (s·x) div n and row (t·y) div n. Each sample, except copied alpha,
/// becomes the channel's given value, or the mean of the channel in the block, rounded half up:
///   (Σ + count div 2) div count
/// The fields of interlaced frames are separate pictures, with blocks of n rows of the field.
///
/// The grid does not move with regions. If the grid moved, finer detail could be computed from the
/// means of successive frames.
namespace cudavision::mosaic {

struct Parameters {
  struct Ranges {
    static constexpr Range<int> block_size{2, 256};
  };

  int block_size = 16;  ///< in pixels
  bool solid = false;   ///< samples become `values` instead of means; block_size is unused
  /// One value per channel of the layout.
  std::array<std::uint16_t, FrameLayout::max_channels> values{};
  bool hide_alpha = true;  ///< false: alpha is copied
  bool fields = false;     ///< interlaced video: even and odd rows are separate pictures

  bool operator==(const Parameters&) const = default;
};

class Mosaic {
 public:
  /// regions::check_plane_bytes() must accept layout. Throws invalid_argument for other layouts,
  /// for a block size out of range and, if `solid`, for values above 2^bits − 1.
  Mosaic(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~Mosaic();

  /// Applies to later frames. Never allocates. On invalid_argument, keeps the previous parameters.
  void set_parameters(const Parameters& parameters);

  /// in and out have the layout's planes and do not overlap. Bytes outside all channels are copied.
  /// Only enqueues. With `active`, inactive cells and rows below all channels are undefined.
  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active = nullptr);

  class Backend;

 private:
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::mosaic
