// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Non-local means with patches and searches of any size. The first kernel pads the pictures. In the
// second, a block sums squared differences along columns and rows of its tile, for each shift.

#include <cuda_runtime.h>

#include "cuda/core/border.h"
#include "cuda/core/cuda_launch.h"
#include "cuda/nlmeans/kernel_arguments.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::nlmeans {

constexpr int generic_threads = 256;
constexpr int generic_tile = 32;  ///< pixels per side; each thread denoises four
constexpr int max_generic_side = generic_tile + Parameters::Ranges::patch.max - 1;

/// A padded picture. Samples are ordered by channel, then by row.
template <class Sample>
struct Padded {
  __device__ Padded(const NlMeansArguments& a, const DenoisedPicture& picture, int frame)
      : halo(a.search_radius + a.patch_radius),
        width(picture.width + 2 * halo),
        height(picture.height + 2 * halo),
        samples(reinterpret_cast<Sample*>(picture.padded + frame * a.padded_frame_bytes)) {}

  __device__ Sample* at(int channel, int x, int y) const {
    return samples + (static_cast<std::int64_t>(channel) * height + y + halo) * width + x + halo;
  }

  int halo, width, height;
  Sample* samples;
};

template <class Sample>
__global__ void __launch_bounds__(generic_threads)
    pad_pictures(const __grid_constant__ NlMeansArguments a) {
  grid_dependency_wait();
  if (!is_chosen(a))
    return;
  const DenoisedPicture& picture =
      picture_of_block(a, blockIdx.x, &DenoisedPicture::first_padding_block);
  const int row = blockIdx.x - picture.first_padding_block;
  const int padded_height = picture.height + 2 * (a.search_radius + a.patch_radius);
  const int frame = row / (padded_height * a.channels);
  const int channel = row / padded_height % a.channels;
  const Padded<Sample> to(a, picture, frame);
  const int y = row % to.height - to.halo;
  const DenoisedPlane& plane = picture.planes[channel];
  const SearchedPlane& searched = a.frames[frame][plane.number];
  const std::uint8_t* const from =
      searched.rows + plane.offset +
      static_cast<std::int64_t>(border_index(y, picture.height, Border::reflect_101)) *
          searched.pitch;
  for (int x = static_cast<int>(threadIdx.x) - to.halo; x < picture.width + to.halo;
       x += generic_threads) {
    const std::uint8_t* const bytes =
        from +
        static_cast<std::int64_t>(border_index(x, picture.width, Border::reflect_101)) * plane.step;
    *to.at(channel, x, y) = static_cast<Sample>(load_sample<sizeof(Sample)>(a, bytes));
  }
  launch_dependents();
}

/// Squared differences and weighted samples are summed in the type Sum.
template <class Sample, class Sum, int kChannels>
__global__ void __launch_bounds__(generic_threads)
    denoise_generic(const __grid_constant__ NlMeansArguments a) {
  __shared__ Sum squares[max_generic_side * max_generic_side];
  __shared__ Sum columns[generic_tile * max_generic_side];
  grid_dependency_wait();
  if (!is_chosen(a))
    return;
  const DenoisedPicture& picture = picture_of_block(a, blockIdx.x, &DenoisedPicture::first_block);
  const Padded<Sample> padded(a, picture, 0);
  const int across = (picture.width + generic_tile - 1) / generic_tile;
  const int tile = blockIdx.x - picture.first_block;
  const int left = tile % across * generic_tile, top = tile / across * generic_tile;
  if (!is_active(a, picture, left, top, generic_tile, generic_tile)) {
    launch_dependents();
    return;
  }
  // If little of the frame is denoised, the next launch may use the idle part of the GPU.
  if (!a.everywhere)
    launch_dependents();
  const int patch = 2 * a.patch_radius + 1;
  const int side = generic_tile + patch - 1;  // the tile and the pixels that its patches cover
  // Limits of positions: a tile may extend beyond the picture, but its reads stay in the padding.
  const int last_x = picture.width - 1 + a.patch_radius;
  const int last_y = picture.height - 1 + a.patch_radius;

  const int thread = threadIdx.x;
  const int first_x = thread % side, first_y = thread / side;
  const int step_x = generic_threads % side, step_y = generic_threads / side;
  constexpr int segment = 8;  // rows of a column per thread
  const int own_x = thread % (generic_tile / 4) * 4, own_y = thread / (generic_tile / 4);
  std::uint32_t weights[4] = {};
  Sum sums[kChannels][4] = {};

  const int side_of_search = 2 * a.search_radius + 1;
  for (int row = 0; row < a.frame_count * side_of_search; ++row)
    for (int dx = -a.search_radius; dx <= a.search_radius; ++dx) {
      const Padded<Sample> searched(a, picture, row / side_of_search);
      const int dy = row % side_of_search - a.search_radius;
      for (int x = first_x, y = first_y; y < side;) {
        const int at_x = min(left + x - a.patch_radius, last_x);
        const int at_y = min(top + y - a.patch_radius, last_y);
        Sum sum = 0;
#pragma unroll
        for (int c = 0; c < kChannels; ++c) {
          const std::uint32_t difference = std::uint32_t{*padded.at(c, at_x, at_y)} -
                                           std::uint32_t{*searched.at(c, at_x + dx, at_y + dy)};
          sum += difference * difference;
        }
        squares[y * side + x] = sum;
        x += step_x;
        y += step_y;
        if (x >= side) {
          x -= side;
          ++y;
        }
      }
      __syncthreads();
      if (thread < side * (generic_tile / segment)) {
        const int y = thread / side * segment;
        const Sum* const square = squares + y * side + thread % side;
        Sum sum = 0;
        for (int i = 0; i < patch - 1; ++i)
          sum += square[i * side];
        for (int i = 0; i < segment; ++i) {
          sum += square[(i + patch - 1) * side];
          columns[(y + i) * side + thread % side] = sum;
          sum -= square[i * side];
        }
      }
      __syncthreads();
      const Sum* const column = columns + own_y * side + own_x;
      Sum distance = 0;
      for (int i = 0; i < patch - 1; ++i)
        distance += column[i];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        distance += column[i + patch - 1];
        const Sum index = distance >> a.distance_shift;
        const std::uint32_t weight =
            __ldg(a.weights +
                  (index < a.last_weight ? static_cast<std::uint32_t>(index) : a.last_weight));
        distance -= column[i];
        weights[i] += weight;
        const int x = min(left + own_x + i, picture.width - 1);
        const int y = min(top + own_y, picture.height - 1);
#pragma unroll
        for (int c = 0; c < kChannels; ++c)
          sums[c][i] += static_cast<Sum>(weight) * *searched.at(c, x + dx, y + dy);
      }
    }

  const int y = top + own_y;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int x = left + own_x + i;
    if (x >= picture.width || y >= picture.height)
      continue;
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      store_sample<sizeof(Sample)>(
          a, picture.planes[c], x, y,
          static_cast<std::uint32_t>((sums[c][i] + weights[i] / 2) / weights[i]));
  }
  launch_dependents();
}

}  // namespace cudavision::nlmeans
