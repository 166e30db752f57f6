// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Counts tiles of contiguous samples of 8 bits, makes their tables and applies these in one launch.
// A block first counts a part of a tile and then equalises a patch, for which it waits for the
// tables of its cells only. Meanwhile it copies some of the planes that stay unchanged.

#include "cuda/clahe/apply_bytes.cuh"
#include "cuda/clahe/count_ranges.cuh"

namespace cudavision::clahe {
namespace {

/// Leaves the multiprocessor and the memory to other blocks for a moment.
__device__ void pause_between_polls() {
  __nanosleep(20);
  delay_for_test();
}

/// Waits until the tables of a patch's cells are made or nearly so. Their entries tell whether they
/// are complete, but polling all of these would delay the blocks that are still counting.
__device__ void wait_for_tables(const Arguments& a, const BlockPatch& patch, std::uint32_t epoch) {
  // Three tiles beside each other have the tables of two cells.
  constexpr int tiles = 6;
  if (threadIdx.x < tiles) {
    const int number = threadIdx.x % 3;
    const int x = number == 0 ? a.tiling.x.tile_before(patch.cell_x)
                              : a.tiling.x.tile_after(patch.cell_x + number - 1);
    const int y = threadIdx.x < 3 ? a.tiling.y.tile_before(patch.cell_y)
                                  : a.tiling.y.tile_after(patch.cell_y);
    while (DeviceAtomics::load(a.made + y * a.tiling.x.tiles + x) != epoch)
      pause_between_polls();
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kBytesThreads, 6)
    equalise_bytes_kernel(const __grid_constant__ Arguments a) {
  __shared__ uint4 counters[256 / 4];
  clear_words(counters, 256 / 4);
  __syncthreads();
  grid_dependency_wait();
  const Launches launches(a.launches);
  const std::uint32_t epoch = launches.current();
  const std::uint32_t tag = TaggedBytes::tag(epoch);

  const int tile = blockIdx.x / a.counting_parts;
  if (tile < a.tiling.tiles() && count_and_make_tables<LumaBytes<1, 0>, Action::map>(
                                     a, tile, blockIdx.x % a.counting_parts, counters, tag)) {
    __syncthreads();
    if (threadIdx.x == 0)
      DeviceAtomics::store(a.made + tile, epoch);
  }
  launch_dependents();  // their blocks start as blocks of this launch end

  std::uint32_t retired_before = 0;
  apply_to_bytes<true>(a, tag, [&](const BlockPatch& patch) {
    copy_planes(a, blockIdx.x, gridDim.x);
    delay_for_test();
    if (!patch.empty())
      wait_for_tables(a, patch, epoch);
    // This block has read the epoch, and needs it no more.
    if (threadIdx.x == 0)
      retired_before = launches.retire();
  });
  if (threadIdx.x == 0)
    launches.advance_if_last(retired_before, gridDim.x);
}

}  // namespace
}  // namespace cudavision::clahe
