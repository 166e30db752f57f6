// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The grid of blocks, for both backends. It covers the frame or one of its fields.

#include <cstdint>
#include <numeric>

#include "cuda/mosaic/mosaic.h"
#include "cuda/regions/planebytes.h"

namespace cudavision::mosaic {

/// A sample that begins in a block may cover this many pixels of the next one along each axis, if
/// the block size is no multiple of the pixels per sample.
constexpr int max_overhang = 3;

/// First sample, along an axis with `pixels` pixels per sample, that belongs to block `block` or a
/// later one. At most `count`.
CUDAVISION_HOST_DEVICE inline int first_sample(int block, int block_size, int pixels, int count) {
  const int first = (block * block_size + pixels - 1) / pixels;
  return first < count ? first : count;
}

/// Mean of `count` ≥ 1 samples, up to 256·256. The sum of as many 16-bit words, plus half their
/// number, is below 2^32.
CUDAVISION_HOST_DEVICE inline std::uint32_t mean_of(std::uint32_t sum, std::uint32_t count) {
  return (sum + count / 2) / count;
}

/// Blocks along an axis that have samples among the first `count`.
inline int block_count(int block_size, int pixels, int count) {
  return count == 0 ? 0 : (count - 1) * pixels / block_size + 1;
}

/// Smallest number of blocks that end at a period of the plane. Groups of this size share no bytes.
inline int separable_blocks(const regions::PlaneBytes& plane, int block_size) {
  return plane.period_pixels / std::gcd(plane.period_pixels, block_size);
}

/// First byte of a block in a row. The block's number must be a multiple of separable_blocks().
CUDAVISION_HOST_DEVICE inline int first_byte(const regions::PlaneBytes& plane, int block,
                                             int block_size) {
  return block * block_size / plane.period_pixels * plane.period;
}

}  // namespace cudavision::mosaic
