// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Chooses the blocks of the count kernel for samples of up to 12 bits.

#include <algorithm>

#include "cuda/clahe/arithmetic.h"
#include "cuda/core/division.h"

namespace cudavision::clahe {

constexpr int kCountThreads = 512;  // maximum per block

struct CountShape {
  int threads, parts;
};

/// Returns a shape with about as many blocks as the GPU holds at once. With many tiles, blocks get
/// fewer threads, so that more blocks fit. `even`: all multiprocessors get equally many blocks.
inline CountShape count_shape(const Tiling& tiling, int pack_pixels, int multiprocessors,
                              bool even) {
  constexpr int min_threads = 64, blocks_per_multiprocessor = 2;
  const int tiles = tiling.tiles();
  const int packs = static_cast<int>(tiling.area() / static_cast<std::uint32_t>(pack_pixels));
  // For few packs, one block is faster than several blocks that merge counts in device memory.
  constexpr int max_packs = 4 * kCountThreads;
  if (even && tiles <= multiprocessors && packs > kCountThreads && packs <= max_packs)
    return {kCountThreads, 1};
  // If the blocks are shared evenly, smaller blocks spend less time on setup.
  int threads = even ? kCountThreads / 2 : kCountThreads;
  int blocks = multiprocessors * blocks_per_multiprocessor;
  for (; threads > min_threads && tiles > blocks; threads /= 2)
    blocks *= 2;
  const int packs_of_block = threads * (even ? 2 : 1);  // about the minimum per block
  return {threads, std::clamp(std::min(blocks / tiles, divide_up(packs, packs_of_block)), 1,
                              tiling.y.tile_size)};
}

}  // namespace cudavision::clahe
