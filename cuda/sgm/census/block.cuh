// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/division.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct CensusArguments {
  Samples pictures[2];  // left and right, or a single picture
  FeaturePlane features[2];
  bool whole[2];      // true if four features can be stored at once
  bool aligned[2];    // see Samples::has_words_of_four()
  int shift;          // right shift from samples to 8-bit levels, for the noise estimate
  int tiles;          // tiles across the picture
  int blocks;         // blocks per picture
  bool clear_border;  // sets features near the border to 0, as libSGM does
  StepPenalties penalties;
};

constexpr int census_pixels = 4;  // neighbouring pixels of a row per thread
constexpr int census_tile_width = 32 * census_pixels;
constexpr int census_threads = 256;

inline CensusArguments census_arguments(const StageConfig& config,
                                        std::initializer_list<CensusTask> tasks,
                                        const StepPenalties& penalties, int tile_height) {
  CensusArguments a{};
  a.shift = config.bits - 8;
  a.tiles = divide_up(config.width, census_tile_width);
  a.blocks = a.tiles * divide_up(config.height, tile_height);
  a.clear_border = config.libsgm();
  a.penalties = penalties;
  int picture = 0;
  for (const auto& [samples, plane] : tasks) {
    a.pictures[picture] = Samples(samples);
    a.features[picture] = plane;
    a.aligned[picture] = a.pictures[picture].has_words_of_four();
    a.whole[picture++] = config.width % census_pixels == 0 && plane.pitch % census_pixels == 0 &&
                         plane.shift == 0 && plane.end >= config.width &&
                         reinterpret_cast<std::uintptr_t>(plane.data) % 16 == 0;
  }
  return a;
}

struct CensusBlock {
  int picture;
  int x, y;  ///< first pixel of the tile

  __device__ CensusBlock(const CensusArguments& a, int width, int height)
      : picture(static_cast<int>(blockIdx.x) / a.blocks) {
    const int number = static_cast<int>(blockIdx.x) - picture * a.blocks;
    y = number / a.tiles;
    x = (number - y * a.tiles) * width;
    y *= height;
  }
};

/// Writes P2 of the steps from the row above and from the left to the thread's pixels (x + i, y).
/// step(i, dx, dy) returns the table index for the step from (x + i + dx, y + dy) to (x + i, y).
template <class Step>
__device__ void write_penalties(const StepPenalties& penalties, const std::uint8_t* table, int x,
                                int y, int width, const Step& step) {
  const auto store = [&](std::uint32_t* plane, int dx, int dy) {
    std::uint32_t words[census_pixels];
#pragma unroll
    for (int i = 0; i < census_pixels; ++i) {
      // Steps from or to pixels outside the picture have P2 = 0.
      const bool inside = y + dy >= 0 && x + i + dx >= 0 && x + i + max(dx, 0) < width;
      words[i] = inside ? table[step(i, dx, dy)] * 0x10001u : 0;
    }
    *reinterpret_cast<uint4*>(plane + static_cast<std::int64_t>(y) * penalties.pitch + x) = {
        words[0], words[1], words[2], words[3]};
  };
  store(penalties.vertical, 0, -1);
  store(penalties.horizontal, -1, 0);
  if (!penalties.diagonal[0])
    return;
  store(penalties.diagonal[0], -1, -1);
  store(penalties.diagonal[1], 1, -1);
}

__device__ inline void store_features(const CensusArguments& a, int picture, int x,
                                      const std::uint32_t (&features)[census_pixels],
                                      std::uint32_t* to, std::uint32_t& first,
                                      std::uint32_t& last) {
  const int width = a.pictures[picture].width;
  if (a.whole[picture]) {
    *reinterpret_cast<uint4*>(to) = {features[0], features[1], features[2], features[3]};
  } else {
#pragma unroll
    for (int i = 0; i < census_pixels; ++i)
      if (x + i < width && a.features[picture].has(x + i))
        to[i] = features[i];
  }
  if (x == 0)
    first = features[0];
#pragma unroll
  for (int i = 0; i < census_pixels; ++i)
    if (x + i == width - 1)
      last = features[i];
}

/// Fills the columns outside the picture. edges holds the first and last features of the rows.
template <int kRows>
__device__ void fill_outside(const CensusArguments& a, const CensusBlock& at, int tile_width,
                             const std::uint32_t (&edges)[2][kRows]) {
  const FeaturePlane& plane = a.features[at.picture];
  const Samples& samples = a.pictures[at.picture];
  const int rows = min(kRows, samples.height - at.y);
  const auto fill = [&](int begin, int end, const std::uint32_t(&features)[kRows]) {
    const int count = max(0, end - begin);
    for (int i = threadIdx.x; i < rows * count; i += census_threads) {
      const int row = i / count;
      static_cast<std::uint32_t*>(
          plane.data)[(at.y + row) * plane.pitch + begin + i - row * count] =
          plane.replicates ? features[row] : 0;
    }
  };
  if (at.x == 0)
    fill(plane.begin, min(plane.shift, plane.end), edges[0]);
  if (at.x + tile_width >= samples.width)
    fill(max(plane.begin, samples.width + plane.shift), plane.end, edges[1]);
}

}  // namespace cudavision::sgm
