// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How the blocks of a launch share the tiles that they count, for up to 12 bits.

#include <algorithm>

#include "cuda/clahe/arithmetic.h"
#include "cuda/core/division.h"

namespace cudavision::clahe {

constexpr int kCountThreads = 512;  // maximum of a block

struct CountShape {
  int threads, parts;
};

/// As many blocks as the GPU holds at once. Many tiles get smaller blocks, so that no tile is
/// divided. `even`: every multiprocessor gets the same number of blocks.
inline CountShape count_shape(const Tiling& tiling, int pack_pixels, int multiprocessors,
                              bool even) {
  constexpr int min_threads = 64, blocks_per_multiprocessor = 2;
  const int tiles = tiling.tiles();
  const int packs = static_cast<int>(tiling.area() / static_cast<std::uint32_t>(pack_pixels));
  // One block counts few packs faster than several, whose counts meet in device memory.
  constexpr int max_packs = 4 * kCountThreads;
  if (even && tiles <= multiprocessors && packs > kCountThreads && packs <= max_packs)
    return {kCountThreads, 1};
  // With an equal share per multiprocessor, fewer threads spend less time on setup.
  int threads = even ? kCountThreads / 2 : kCountThreads;
  int blocks = multiprocessors * blocks_per_multiprocessor;
  for (; threads > min_threads && tiles > blocks; threads /= 2)
    blocks *= 2;
  const int packs_of_block = threads * (even ? 2 : 1);  // minimum
  return {threads, std::clamp(std::min(blocks / tiles, divide_up(packs, packs_of_block)), 1,
                              tiling.y.tile_size)};
}

}  // namespace cudavision::clahe
