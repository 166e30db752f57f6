// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The grid of blocks of the frame or of one of its fields.

#include <cstdint>
#include <numeric>

#include "cuda/mosaic/mosaic.h"
#include "cuda/regions/planebytes.h"

namespace cudavision::mosaic {

/// Maximum number of pixels by which a block's last sample extends into the next block, along each
/// axis, with a subsampling of up to 4. There is no overhang if it divides the block size.
constexpr int max_overhang = 3;

/// Returns the index of the first sample in this block or a later block, or `count` if there is
/// none. The axis has `count` samples, one for every `pixels` pixels.
CUDAVISION_HOST_DEVICE inline int first_sample(int block, int block_size, int pixels, int count) {
  const int first = (block * block_size + pixels - 1) / pixels;
  return first < count ? first : count;
}

/// Returns the mean of `count` samples, rounded half up. count: 1 to 256·256 (dividend < 2^32).
CUDAVISION_HOST_DEVICE inline std::uint32_t mean_of(std::uint32_t sum, std::uint32_t count) {
  return (sum + count / 2) / count;
}

/// Returns the number of blocks that contain any of the first `count` samples.
inline int block_count(int block_size, int pixels, int count) {
  return count == 0 ? 0 : (count - 1) * pixels / block_size + 1;
}

/// Returns the size of the smallest groups of blocks that span whole periods and share no bytes.
inline int separable_blocks(const regions::PlaneBytes& plane, int block_size) {
  return plane.period_pixels / std::gcd(plane.period_pixels, block_size);
}

/// Returns the first byte of a block in a row. `block` must be a multiple of separable_blocks().
CUDAVISION_HOST_DEVICE inline int first_byte(const regions::PlaneBytes& plane, int block,
                                             int block_size) {
  return block * block_size / plane.period_pixels * plane.period;
}

}  // namespace cudavision::mosaic
