// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: non-local means of bytes with small patches. A block keeps its tile and the halo
// of the search in shared memory. A thread denoises four samples in each of a few rows, whose sums
// stay in registers while it goes through all shifts. Overlapping patches share sums: squares are
// summed along a row for four patches at a time, and sliding sums run down the rows.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/nlmeans/kernel_arguments.h"
#include "cuda/nlmeans/tile.h"

namespace cudavision::nlmeans {

constexpr int tile_threads = 32 * DenoisingTile::warps;

/// Returns the number of rows of a thread: as many as there are registers for.
CUDAVISION_HOST_DEVICE constexpr int tile_thread_rows(int channels) {
  return channels == 1 ? 8 : 4;
}

/// Maximum number of entries of a table in shared memory.
constexpr int max_shared_weights = 8192;

/// Returns the shared memory of a block, without the table.
inline int tile_shared_bytes(int channels, int halo) {
  return 2 * channels * DenoisingTile::rows(tile_thread_rows(channels), halo) *
         DenoisingTile::pitch * 4;
}

/// With kSharedTable, the table is copied to shared memory.
template <int kRadius, int kChannels, bool kSharedTable>
__global__ void __launch_bounds__(tile_threads, 4)
    denoise_tiles(const __grid_constant__ NlMeansArguments a) {
  constexpr int thread_rows = tile_thread_rows(kChannels);
  extern __shared__ std::uint32_t shared[];
  grid_dependency_wait();
  if (!is_chosen(a))
    return;
  const DenoisedPicture& picture = picture_of_block(a, blockIdx.x, &DenoisedPicture::first_block);
  const int across = (picture.width + DenoisingTile::width - 1) / DenoisingTile::width;
  const int tile = blockIdx.x - picture.first_block;
  const int left = tile % across * DenoisingTile::width;
  const int top = tile / across * (DenoisingTile::warps * thread_rows);
  if (!is_active(a, picture, left, top, DenoisingTile::width, DenoisingTile::warps * thread_rows)) {
    launch_dependents();
    return;
  }
  // Where little of the frame is denoised, the next launch may use the rest of the GPU.
  if (!a.everywhere)
    launch_dependents();

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int halo = a.search_radius + kRadius;
  const int rows = DenoisingTile::rows(thread_rows, halo);
  const int channel_words = rows * DenoisingTile::pitch;
  // The table comes first, because its address is then a constant.
  std::uint32_t* const table = shared;
  std::uint32_t* const own = table + (kSharedTable ? a.last_weight + 1 : 0);
  std::uint32_t* const later = own + kChannels * channel_words;
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    load_tile(picture, picture.planes[c], left - DenoisingTile::left_margin, top - halo, rows, lane,
              warp, own + c * channel_words);
  if (kSharedTable)
    for (std::uint32_t i = threadIdx.x; i <= a.last_weight; i += tile_threads)
      table[i] = a.weights[i];
  __syncthreads();

  const int first_row = warp * thread_rows;
  const bool works = top + first_row < picture.height;
  const auto weight = [&](std::uint32_t distance) {
    const std::uint32_t index = min(distance >> a.distance_shift, a.last_weight);
    return kSharedTable ? table[index] : __ldg(a.weights + index);
  };
  PatchSums<kRadius, kChannels, thread_rows> sums;
  for (int phase = 0; phase < 4; ++phase) {
    if (phase > 0) {
      __syncthreads();
      for (int i = threadIdx.x; i < kChannels * channel_words - 1; i += tile_threads)
        later[i] = bytes_from(own[i], own[i + 1], phase);
      __syncthreads();
    }
    if (works)
      add_shifts(sums, {own, channel_words, lane, first_row}, phase == 0 ? own : later, phase,
                 a.search_radius, weight);
  }

  if (works) {
    const int x = left + 4 * lane;
#pragma unroll
    for (int y = 0; y < thread_rows; ++y)
      if (top + first_row + y < picture.height)
#pragma unroll
        for (int c = 0; c < kChannels; ++c) {
          const DenoisedPlane& plane = picture.planes[c];
          std::uint8_t* row =
              plane.out + static_cast<std::int64_t>(top + first_row + y) * plane.out_pitch;
#pragma unroll
          for (int i = 0; i < 4; ++i)
            if (x + i < picture.width)
              row[plane.offset + static_cast<std::int64_t>(plane.step) * (x + i)] =
                  static_cast<std::uint8_t>(sums.mean(y, c, i));
        }
  }
  launch_dependents();
}

}  // namespace cudavision::nlmeans
