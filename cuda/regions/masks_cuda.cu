// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The distances from masks on CUDA: one launch finds the distances within each row, the next takes
// the columns.

#include "cuda/core/cuda_launch.h"
#include "cuda/regions/maskbits.h"
#include "cuda/regions/masks.h"

namespace cudavision::regions {
namespace {

constexpr int threads = 256, warps = threads / 32;

/// A block finds the distances within one row.
__global__ void __launch_bounds__(threads) spread_rows(const __grid_constant__ MaskWork work) {
  __shared__ std::uint32_t bits[max_bit_words];
  __shared__ const std::uint8_t* mask_rows[Parameters::max_masks];  // nullptr: not in this row
  const int y = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int width = work.rows.width, words = (width + 31) / 32;
  const int lane = thread % 32;
  if (thread < work.count) {
    const MaskPlane& mask = work.masks[thread];
    mask_rows[thread] = y >= mask.box.y0 && y < mask.box.y1 ? mask_row(mask, y) : nullptr;
  }
  __syncthreads();
  bool any = false;
  for (int word = thread / 32; word < words; word += warps) {
    const int x = 32 * word + lane;
    bool selected = false;
    for (int i = 0; i < work.count; ++i) {
      const MaskPlane& mask = work.masks[i];
      if (mask_rows[i] && x >= mask.box.x0 && x < mask.box.x1 && x < width)
        selected |= selects(mask, mask_rows[i], x);
    }
    const std::uint32_t ballot = __ballot_sync(~0u, selected);
    if (lane == 0)
      bits[word] = ballot;
    any |= ballot != 0;
  }
  any = __syncthreads_or(any);
  auto* const out = reinterpret_cast<std::uint32_t*>(work.rows.row(y));
  for (int four = thread; 4 * four < width; four += threads)
    out[four] = any ? row_distances(bits, words, 4 * four, work.radius) : ~0u;
}

/// A block takes the columns of 128 pixels in 32 rows; a thread has four pixels in every eighth
/// row.
__global__ void __launch_bounds__(threads) take_columns(const __grid_constant__ MaskWork work) {
  constexpr int block_width = 128, block_height = 32;
  const int strips = (work.rows.width + block_width - 1) / block_width;
  const int strip = static_cast<int>(blockIdx.x) % strips;
  const int top = static_cast<int>(blockIdx.x) / strips * block_height;
  const int x = strip * block_width + static_cast<int>(threadIdx.x) % 32 * 4;
  const bool in_frame = x < work.rows.width;
  const int first = top + static_cast<int>(threadIdx.x) / 32;
  const int bottom = min(top + block_height, work.rows.height);
  // Most blocks of most frames are too far from all masks.
  bool reached = false;
  for (int y = first - (work.radius + warps - 1) / warps * warps;
       in_frame && !reached && y < bottom + work.radius; y += warps)
    if (y >= 0 && y < work.rows.height)
      reached = *reinterpret_cast<const std::uint32_t*>(work.rows.row(y) + x) != ~0u;
  reached = __syncthreads_or(reached);
  for (int y = first; in_frame && y < bottom; y += warps)
    *reinterpret_cast<std::uint32_t*>(work.result.row(y) + x) =
        reached ? column_distances(work.rows, x, y, work.radius) : ~0u;
}

}  // namespace

void find_mask_distances_cuda(Device& device, const MaskWork& work) {
  const auto height = static_cast<unsigned>(work.rows.height);
  const unsigned strips = (static_cast<unsigned>(work.rows.width) + 127) / 128;
  launch_kernel(device.stream(), {reinterpret_cast<const void*>(spread_rows), height, threads},
                &work);
  launch_kernel(
      device.stream(),
      {reinterpret_cast<const void*>(take_columns), strips * ((height + 31) / 32), threads}, &work);
}

}  // namespace cudavision::regions
