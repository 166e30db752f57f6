// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Non-local means of bytes with small patches. Shared memory holds a tile with the halo of the
// search. A thread denoises four samples in each of a few rows. Overlapping patches share sums:
// squares are summed along a row for four patches at a time, and sliding sums run down the rows.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/nlmeans/kernel_arguments.h"
#include "cuda/nlmeans/opaque_value.cuh"
#include "cuda/nlmeans/search_tile.h"

namespace cudavision::nlmeans {

constexpr int tile_threads = 32 * DenoisingTile::warps;

/// Rows per thread, as many as the registers allow.
CUDAVISION_HOST_DEVICE constexpr int tile_thread_rows(int channels) {
  return channels == 1 ? 8 : 4;
}

/// Returns true if registers suffice to load the tiles of neighbouring frames.
CUDAVISION_HOST_DEVICE constexpr bool searches_neighbours(int channels) {
  return channels == 1;
}

constexpr int max_shared_weights = 8192;

inline int tile_shared_bytes(int channels, int halo) {
  return 2 * channels * DenoisingTile::rows(tile_thread_rows(channels), halo) *
         DenoisingTile::pitch * 4;
}

struct TilePosition {
  const DenoisedPicture& picture;
  int left, top;

  __device__ TilePosition(const NlMeansArguments& a, unsigned block, int thread_rows)
      : picture(picture_of_block(a, block, &DenoisedPicture::first_block)) {
    const int across = (picture.width + DenoisingTile::width - 1) / DenoisingTile::width;
    const int number = block - picture.first_block;
    left = number % across * DenoisingTile::width;
    top = number / across * (DenoisingTile::warps * thread_rows);
  }
};

/// Loads the tile of another frame, shifted by `phase` bytes. Recomputes values to save registers.
template <int kRadius, int kChannels>
__device__ __forceinline__ void load_neighbour(const NlMeansArguments& a, int frame, int phase,
                                               std::uint32_t* words) {
  constexpr int thread_rows = tile_thread_rows(kChannels);
  const TilePosition tile(a, opaque_value(blockIdx.x), thread_rows);
  const int thread = thread_number(), halo = a.search_radius + kRadius;
  const int rows = DenoisingTile::rows(thread_rows, halo);
#pragma unroll 1
  for (int c = 0; c < kChannels; ++c)
    load_tile(tile.picture, tile.picture.planes[c], a.frames[frame][tile.picture.planes[c].number],
              tile.left - DenoisingTile::left_margin + phase, tile.top - halo, rows, thread % 32,
              thread / 32, words + c * rows * DenoisingTile::pitch);
}

template <int kRadius, int kChannels, bool kSharedTable>
__global__ void __launch_bounds__(tile_threads, 4)
    denoise_tiles(const __grid_constant__ NlMeansArguments a) {
  constexpr int thread_rows = tile_thread_rows(kChannels);
  extern __shared__ std::uint32_t shared[];
  grid_dependency_wait();
  if (!is_chosen(a))
    return;

  const TilePosition tile(a, blockIdx.x, thread_rows);
  if (!is_active(a, tile.picture, tile.left, tile.top, DenoisingTile::width,
                 DenoisingTile::warps * thread_rows)) {
    launch_dependents();
    return;
  }
  // If little of the frame is denoised, the next launch may use the idle part of the GPU.
  if (!a.everywhere)
    launch_dependents();

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int halo = a.search_radius + kRadius;
  const int rows = DenoisingTile::rows(thread_rows, halo);
  const int channel_words = rows * DenoisingTile::pitch;
  // The table comes first, so that its address is a constant.
  std::uint32_t* const table = shared;
  std::uint32_t* const own = table + (kSharedTable ? a.last_weight + 1 : 0);
  std::uint32_t* const shifted = own + kChannels * channel_words;
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    load_tile(tile.picture, tile.picture.planes[c], a.frames[0][tile.picture.planes[c].number],
              tile.left - DenoisingTile::left_margin, tile.top - halo, rows, lane, warp,
              own + c * channel_words);
  if (kSharedTable)
    for (std::uint32_t i = threadIdx.x; i <= a.last_weight; i += tile_threads)
      table[i] = a.weights[i];
  __syncthreads();

  const bool works = tile.top + warp * thread_rows < tile.picture.height;
  const auto weight = [&](std::uint32_t distance) {
    const std::uint32_t index = min(distance >> a.distance_shift, a.last_weight);
    return kSharedTable ? table[index] : __ldg(a.weights + index);
  };
  PatchSums<kRadius, kChannels, thread_rows> sums;
  const int frames = searches_neighbours(kChannels) ? a.frame_count : 1;
  for (int step = 0; step < 4 * frames; ++step) {
    if (step > 0) {
      __syncthreads();
      // `own` must keep the tile of the first frame, so neighbouring frames are loaded shifted.
      if (searches_neighbours(kChannels) && step >= 4)
        load_neighbour<kRadius, kChannels>(a, step / 4, step % 4, shifted);
      else
        for (int i = threadIdx.x; i < kChannels * channel_words - 1; i += tile_threads)
          shifted[i] = bytes_from(own[i], own[i + 1], step);
      __syncthreads();
    }
    const int thread = thread_number();
    if (works)
      add_shifts(sums, {own, channel_words, thread % 32, thread / 32 * thread_rows},
                 step == 0 ? own : shifted, step % 4, a.search_radius, weight);
  }

  if (works) {
    const TilePosition at(a, opaque_value(blockIdx.x), thread_rows);
    const DenoisedPicture& picture = at.picture;
    const int thread = thread_number();
    const int x = at.left + thread % 32 * 4, top = at.top, first_row = thread / 32 * thread_rows;
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
