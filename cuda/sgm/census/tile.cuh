// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For the kernels of census_gradient and of the noise estimate: a tile of filtered samples or of
// luminances in shared memory. A thread processes four neighbouring pixels of a row and the four
// pixels eight rows below. A word holds two pixels, eight rows apart, as 16-bit floats.
//
// The difference of two integers as floats, saturated to [0, 1], is 1 if the first is larger, else
// 0. A multiply-add appends this bit to a feature, on most GPUs twice as fast as integer code.

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/census/block.cuh"
#include "cuda/sgm/half2.cuh"

namespace cudavision::sgm::gradient {

constexpr int pixels = census_pixels, tile_width = census_tile_width, threads = census_threads;
constexpr int pair_rows = threads / 32;  // rows between the pixels of a word
constexpr int tile_height = 2 * pair_rows;
constexpr int tile_rows = pair_rows + 2 * gradient_radius_y;  // rows of words in a tile
constexpr int halo = 8, window = pixels + 2 * halo;           // aligns windows to 16 bytes
constexpr int tile_pitch = tile_width + 2 * halo;
static_assert(gradient_radius_x <= halo);

constexpr std::uint32_t ones = 0x00010001, base = luminance_0 * ones;

struct Row {
  std::uint32_t words[window];

  /// Loads columns −kBefore to pixels + kAfter − 1, counted from the thread's first pixel `own`.
  /// kBefore and kAfter are multiples of 4.
  template <int kBefore, int kAfter>
  __device__ void load(const std::uint32_t* own) {
#pragma unroll
    for (int i = -kBefore; i < pixels + kAfter; i += 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(own + i);
      word(i) = four.x, word(i + 1) = four.y, word(i + 2) = four.z, word(i + 3) = four.w;
    }
  }
  __device__ std::uint32_t& word(int x) {
    return words[halo + x];
  }
  __device__ __half2 at(int x) const {
    return floats_of(words[halo + x]);
  }
};

/// Collects feature bits. After eight calls of add(), the low byte of each half holds eight bits.
class FeatureBytes {
 public:
  __device__ void add(__half2 a, __half2 b) {
    bits_ = __hfma2(bits_, twice(0x4000), __hsub2_sat(a, b));
  }
  __device__ std::uint32_t word() const { return bits_of(bits_); }

 private:
  __half2 bits_ = twice(0x4400);  // 4, which eight doublings turn into 1024
};

/// Returns four 8-bit levels. x is a multiple of 4. The picture is replicated beyond its edges.
__device__ inline std::uint32_t load_four_levels(const Samples& samples, int shift, bool aligned,
                                                 int x, int y) {
  if (aligned && x >= 0 && x + 4 <= samples.width) {
    const int row = min(max(y, 0), samples.height - 1);
    const std::uint8_t* const from =
        samples.data + samples.pitch * row + static_cast<std::int64_t>(samples.bytes) * x;
    if (samples.bytes == 1)
      return *reinterpret_cast<const std::uint32_t*>(from);
    const uint2 words = *reinterpret_cast<const uint2*>(from);
    const auto level = [&](std::uint32_t word) {
      return sample_value(word & 0xffff, samples.shift, samples.largest) >> shift;
    };
    return level(words.x) | level(words.x >> 16) << 8 | level(words.y) << 16 |
           level(words.y >> 16) << 24;
  }
  std::uint32_t levels = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    levels |= samples.at_or_edge(x + i, y) >> shift << 8 * i;
  return levels;
}

template <class FourPairs>
__device__ inline void load_pairs(const CensusBlock& at, std::uint32_t* tile,
                                  const FourPairs& four_pairs) {
  constexpr int row_vectors = tile_pitch / 4;
#pragma unroll
  for (int first = 0; first < tile_rows * row_vectors; first += threads) {
    const int i = first + static_cast<int>(threadIdx.x);
    if (i >= tile_rows * row_vectors)
      break;
    const int row = i / row_vectors;
    const int x = at.x - halo + 4 * (i - row * row_vectors), y = at.y - gradient_radius_y + row;
    *reinterpret_cast<uint4*>(tile + 4 * i) = four_pairs(x, y);
  }
  __syncthreads();
}

__device__ inline void load_tile(const CensusArguments& a, const CensusBlock& at,
                                 std::uint32_t* tile) {
  const Samples& samples = a.pictures[at.picture];
  const bool aligned = a.aligned[at.picture];
  load_pairs(at, tile, [&](int x, int y) -> uint4 {
    const std::uint32_t upper = load_four_levels(samples, a.shift, aligned, x, y);
    const std::uint32_t lower = load_four_levels(samples, a.shift, aligned, x, y + pair_rows);
    const auto pair = [=](unsigned take) {
      return (__byte_perm(upper, lower, take) & 0x00ff00ff) | base;
    };
    return {pair(0x4440), pair(0x5551), pair(0x6662), pair(0x7773)};
  });
}

/// own points to the thread's first pixel. above, here and below are the rows around it.
__device__ inline void compare_with_neighbours(const std::uint32_t* own, const Row& above,
                                               const Row& here, const Row& below,
                                               const __half2 (&means)[pixels],
                                               FeatureBytes (&bytes)[2][pixels]) {
#pragma unroll
  for (int n = 0; n < gradient_neighbours; ++n) {
    const Neighbour neighbour = gradient_neighbour(n);
    Row other;
    if (neighbour.dy < -1 || neighbour.dy > 1)
      other.load<4, 4>(own + neighbour.dy * tile_pitch);
    const Row& row = neighbour.dy == -1  ? above
                     : neighbour.dy == 0 ? here
                     : neighbour.dy == 1 ? below
                                         : other;
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      bytes[n / 8][i].add(means[i], row.at(i + neighbour.dx));
  }
}

}  // namespace cudavision::sgm::gradient
