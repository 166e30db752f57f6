// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel of census_gradient. A word holds the 12-bit samples of two pixels, each added to the
// bits of the 16-bit float 1024. These floats have the order of the samples, and different ones
// differ by at least 1, as FeatureBytes requires. Sums have an offset that keeps them non-negative.

#include "cuda/sgm/census/tile.cuh"
#include "cuda/sgm/path_penalty.cuh"

namespace cudavision::sgm {

struct FilteredCensusArguments {
  CensusArguments census;
  NoiseSource noise;
  PathPenalty penalty;
};

namespace gradient {

constexpr int unit_shift = 4;
static_assert(1 << unit_shift == filtered_unit);

/// x is a multiple of 4. Samples outside the picture equal the nearest edge sample.
__device__ inline uint2 load_four_samples(const Samples& samples, bool aligned, int x, int y) {
  if (aligned && x >= 0 && x + 4 <= samples.width) {
    const int row = min(max(y, 0), samples.height - 1);
    return *reinterpret_cast<const uint2*>(samples.data + samples.pitch * row + 2 * x);
  }
  return {samples.at_or_edge(x, y) | samples.at_or_edge(x + 1, y) << 16,
          samples.at_or_edge(x + 2, y) | samples.at_or_edge(x + 3, y) << 16};
}

__device__ inline void load_filtered_tile(const Samples& samples, bool aligned,
                                          const CensusBlock& at, std::uint32_t* tile) {
  load_pairs(at, tile, [&](int x, int y) -> uint4 {
    const uint2 upper = load_four_samples(samples, aligned, x, y);
    const uint2 lower = load_four_samples(samples, aligned, x, y + pair_rows);
    const auto pair = [](std::uint32_t above, std::uint32_t below, unsigned take) {
      return __byte_perm(above, below, take) + base;
    };
    return {pair(upper.x, lower.x, 0x5410), pair(upper.x, lower.x, 0x7632),
            pair(upper.y, lower.y, 0x5410), pair(upper.y, lower.y, 0x7632)};
  });
}

/// Converts sums with an offset to 8-bit levels, rounded up, to compare with raised_threshold().
template <int kBits>
__device__ inline __half2 raised_levels(std::uint32_t raised) {
  constexpr std::uint32_t levels = ((1u << kBits) - 1) * ones;
  return floats_of(((raised + (filtered_unit - 1) * ones) >> unit_shift & levels) + base);
}
__device__ inline __half2 raised_threshold(int offset, int threshold) {
  return twice(luminance_0 + static_cast<std::uint32_t>(offset + threshold));
}

__device__ inline void make_filtered_features(const std::uint32_t* own, int dead_zone,
                                              std::uint32_t (&features)[2][pixels]) {
  Row above, here, below;
  above.load<8, 8>(own - tile_pitch);
  here.load<4, 4>(own);
  below.load<8, 8>(own + tile_pitch);
  constexpr int radius = 2;  // columns that Dxx needs on each side
  // Sums of words wrap modulo 2^32. The final results fit their halves.
  std::uint32_t columns[pixels + 2 * radius];
#pragma unroll
  for (int i = 0; i < pixels + 2 * radius; ++i) {
    const int x = i - radius;
    columns[i] = above.word(x) + below.word(x) + 2 * here.word(x) - 4 * base;
  }
  // The low bytes of the features are computed first, to save registers. Slopes are above −2^14 and
  // curvatures above −2^15, so the offsets below make them non-negative.
  constexpr int slope_levels = 1 << (14 - unit_shift), curve_levels = 1 << (15 - unit_shift);
  constexpr std::uint32_t slope_0 = (1u << 14) * ones, curve_0 = (1u << 15) * ones;
  std::uint32_t low[pixels];
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const std::uint32_t* const column = columns + radius + i;
    const auto step = [&](int x) { return below.word(i + x) - above.word(i + x); };
    const __half2 sx = raised_levels<11>(column[1] - column[-1] + slope_0);
    const __half2 sy = raised_levels<11>(step(-1) + 2 * step(0) + step(1) + slope_0);
    const __half2 dxx = raised_levels<12>(2 * column[0] - column[-2] - column[2] + curve_0);
    FeatureBytes bytes[2];
#pragma unroll
    for (int n = 0; n < 16; ++n)
      bytes[n / 8].add(
          n < 8    ? sx
          : n < 12 ? sy
                   : dxx,
          raised_threshold(n < 12 ? slope_levels : curve_levels, gradient_threshold(n)));
    low[i] = __byte_perm(bytes[1].word(), bytes[0].word(), 0x6240);
  }
  const std::uint32_t mean_0 =
      (luminance_0 + filtered_offset - static_cast<std::uint32_t>(dead_zone)) * ones;
  __half2 means[pixels];
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const std::uint32_t* const column = columns + radius + i;
    const std::uint32_t sum = column[-1] + column[1] + 2 * column[0];
    means[i] = floats_of((sum >> 8 & 0x00ff00ff) * filtered_unit + mean_0);
  }
  FeatureBytes bytes[2][pixels];
  compare_with_neighbours(own, above, here, below, means, bytes);
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const std::uint32_t high = __byte_perm(bytes[1][i].word(), bytes[0][i].word(), 0x6240);
    features[0][i] = __byte_perm(low[i], high, 0x5410);
    features[1][i] = __byte_perm(low[i], high, 0x7632);
  }
}

__global__ void __launch_bounds__(threads, 4)
    filtered_census_kernel(const __grid_constant__ FilteredCensusArguments arguments) {
  const CensusArguments& a = arguments.census;
  __shared__ __align__(16) std::uint32_t tile[tile_rows * tile_pitch];
  __shared__ std::uint32_t edges[2][tile_height];
  __shared__ std::uint8_t table[256];
  const int lane = static_cast<int>(threadIdx.x) % 32, row = static_cast<int>(threadIdx.x) / 32;
  launch_dependents();
  grid_dependency_wait();

  table[threadIdx.x] = arguments.penalty.raised(a.penalties.table[threadIdx.x]);
  const int zone = dead_zone(arguments.noise.level());
  const CensusBlock at(a, tile_width, tile_height);
  const Samples& samples = a.pictures[at.picture];
  load_filtered_tile(samples, a.aligned[at.picture], at, tile);
  const FeaturePlane& plane = a.features[at.picture];
  const int x = at.x + pixels * lane;
  if (x < samples.width && at.y + row < samples.height) {
    const std::uint32_t* const own =
        tile + (row + gradient_radius_y) * tile_pitch + pixels * lane + halo;
    std::uint32_t features[2][pixels];
    make_filtered_features(own, zone, features);
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
        const auto level = [&](std::uint32_t word) {
          return static_cast<int>(((word - base) >> (16 * half + unit_shift)) & 0xff);
        };
        write_penalties(a.penalties, table, x, y, samples.width, [&](int i, int dx, int dy) {
          return abs(level(here.word(i)) - level((dy == 0 ? here : above).word(i + dx)));
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
