// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel of census_gradient. 16-bit floats represent all its numbers exactly.

#include "cuda/sgm/census/tile.cuh"

namespace cudavision::sgm {

namespace gradient {

struct Thresholds {
  std::uint32_t bits[16];

  constexpr Thresholds() : bits() {
    for (int n = 0; n < 16; ++n)
      bits[n] = bits_of_integer(gradient_threshold(n));
  }
};

/// own is the thread's first pixel in the tile.
__device__ inline void make_features(const std::uint32_t* own,
                                     std::uint32_t (&features)[2][pixels]) {
  Row above, here, below;
  above.load<8, 8>(own - tile_pitch);
  here.load<4, 4>(own);
  below.load<8, 8>(own + tile_pitch);
  constexpr int radius = 2;  // of Dxx
  // Words are added modulo 2^32. Without the bases, the sums fit their halves.
  std::uint32_t columns[pixels + 2 * radius];  // sums of at most 1020, as floats above 1024
  __half2 means[pixels];
#pragma unroll
  for (int i = 0; i < pixels + 2 * radius; ++i) {
    const int x = i - radius;
    columns[i] = above.word(x) + below.word(x) + 2 * here.word(x) - 3 * base;
  }
  constexpr Thresholds thresholds;
  FeatureBytes bytes[4][pixels];
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const std::uint32_t* const column = columns + radius + i;
    const std::uint32_t sum = column[-1] + column[1] + 2 * column[0] + (8 * ones - 4 * base);
    means[i] = floats_of((sum >> 4 & 0x00ff00ff) | base);
  }
  compare_with_neighbours(own, above, here, below, means, bytes);
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const auto column = [&](int x) { return floats_of(columns[radius + i + x]); };
    const auto step = [&](int x) { return __hsub2_rn(below.at(i + x), above.at(i + x)); };
    const __half2 sx = __hsub2_rn(column(1), column(-1));
    const __half2 sy = __hfma2(step(0), twice(0x4000), __hadd2_rn(step(-1), step(1)));
    const __half2 dxx =
        __hadd2_rn(__hsub2_rn(column(0), column(-2)), __hsub2_rn(column(0), column(2)));
#pragma unroll
    for (int n = 0; n < 16; ++n)
      bytes[2 + n / 8][i].add(n < 8 ? sx : n < 12 ? sy : dxx, twice(thresholds.bits[n]));
    const std::uint32_t high = __byte_perm(bytes[1][i].word(), bytes[0][i].word(), 0x6240);
    const std::uint32_t low = __byte_perm(bytes[3][i].word(), bytes[2][i].word(), 0x6240);
    features[0][i] = __byte_perm(low, high, 0x5410);
    features[1][i] = __byte_perm(low, high, 0x7632);
  }
}

__global__ void __launch_bounds__(threads, 4)
    census_kernel(const __grid_constant__ CensusArguments a) {
  __shared__ __align__(16) std::uint32_t tile[tile_rows * tile_pitch];
  __shared__ std::uint32_t edges[2][tile_height];
  __shared__ std::uint8_t table[256];
  const int lane = static_cast<int>(threadIdx.x) % 32, row = static_cast<int>(threadIdx.x) / 32;
  table[threadIdx.x] = a.penalties.table[threadIdx.x];
  launch_dependents();
  grid_dependency_wait();

  const CensusBlock at(a, tile_width, tile_height);
  const Samples& samples = a.pictures[at.picture];
  load_tile(a, at, tile);
  const FeaturePlane& plane = a.features[at.picture];
  const int x = at.x + pixels * lane;
  if (x < samples.width && at.y + row < samples.height) {
    const std::uint32_t* const own =
        tile + (row + gradient_radius_y) * tile_pitch + pixels * lane + halo;
    std::uint32_t features[2][pixels];
    make_features(own, features);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int tile_row = row + half * pair_rows, y = at.y + tile_row;
      if (y >= samples.height)
        break;
      auto* const to = static_cast<std::uint32_t*>(plane.data) + y * plane.pitch + x + plane.shift;
      store_features(a, at.picture, x, features[half], to, edges[0][tile_row], edges[1][tile_row]);
    }
    if (a.penalties.vertical && at.picture == 0) {
      Row above, here;
      above.load<4, 4>(own - tile_pitch);
      here.load<4, 0>(own);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int y = at.y + row + half * pair_rows;
        if (y >= samples.height)
          break;
        write_penalties(a.penalties, table, x, y, samples.width, [&](int i, int dx, int dy) {
          const __half2 steps =
              __habs2(__hsub2_rn(here.at(i), (dy == 0 ? here : above).at(i + dx)));
          return bits_of(__hadd2_rn(steps, floats_of(base))) >> 16 * half & 0xff;
        });
      }
    }
  }
  if (!plane.has_margins())
    return;
  __syncthreads();
  fill_outside(a, at, tile_width, edges);
}

}  // namespace gradient

}  // namespace cudavision::sgm
