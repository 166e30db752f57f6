// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Census features on CUDA. A block loads the samples of its tile and the halo around it into shared
// memory; a thread makes the features of four neighbouring pixels from rows of twelve samples.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct CensusArguments {
  Samples picture;
  void* features;
  int tiles;          // per row of tiles
  bool whole;         // features can be stored four at a time: rows and addresses allow it
  bool clear_border;  // as libSGM does
};

namespace {

using Census = Config::Census;

constexpr int radius_x = 4, radius_y = 3;
constexpr int pixels = 4;  // per thread
constexpr int tile_width = 32 * pixels, tile_height = 8;
constexpr int threads = 32 * tile_height;
constexpr int window = pixels + 2 * radius_x;
constexpr int tile_pitch = tile_width + 2 * radius_x;

/// A feature under construction. kBits is the number of bits of the whole feature.
template <int kBits>
struct FeatureBits {
  std::uint32_t high = 0, low = 0;

  /// Appends bit `number`, counted from the first, which is 1 if a is larger than b.
  __device__ void add(int number, std::uint32_t a, std::uint32_t b) {
    std::uint32_t& word = number < kBits - 32 ? high : low;
    word = __funnelshift_l(b - a, word, 1);  // shifts in the sign of b − a
  }
};

__device__ void load_window(const std::uint32_t* from, std::uint32_t (&to)[window]) {
#pragma unroll
  for (int i = 0; i < window; i += 4) {
    const uint4 four = *reinterpret_cast<const uint4*>(from + i);
    to[i] = four.x;
    to[i + 1] = four.y;
    to[i + 2] = four.z;
    to[i + 3] = four.w;
  }
}

/// Compares pixels opposite each other. tile points to the thread's window in its own row.
template <class Bits>
__device__ void symmetric(const std::uint32_t* tile, Bits (&bits)[pixels]) {
  std::uint32_t above[window], below[window];
  int number = 0;
#pragma unroll
  for (int dy = -radius_y; dy < 0; ++dy) {
    load_window(tile + dy * tile_pitch, above);
    load_window(tile - dy * tile_pitch, below);
#pragma unroll
    for (int dx = -radius_x; dx <= radius_x; ++dx, ++number)
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        bits[i].add(number, above[radius_x + i + dx], below[radius_x + i - dx]);
  }
  load_window(tile, above);
#pragma unroll
  for (int dx = -radius_x; dx < 0; ++dx, ++number)
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      bits[i].add(number, above[radius_x + i + dx], above[radius_x + i - dx]);
}

/// Compares the centre with each neighbour.
template <int kRadiusX, int kRadiusY, class Bits>
__device__ void neighbours(const std::uint32_t* tile, Bits (&bits)[pixels]) {
  std::uint32_t row[window], centre[pixels];
  load_window(tile, row);
#pragma unroll
  for (int i = 0; i < pixels; ++i)
    centre[i] = row[radius_x + i];
  int number = 0;
#pragma unroll
  for (int dy = -kRadiusY; dy <= kRadiusY; ++dy) {
    load_window(tile + dy * tile_pitch, row);
#pragma unroll
    for (int dx = -kRadiusX; dx <= kRadiusX; ++dx) {
      if (dx == 0 && dy == 0)
        continue;
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        bits[i].add(number, centre[i], row[radius_x + i + dx]);
      ++number;
    }
  }
}

__device__ bool at_border(const Samples& picture, int x, int y) {
  return x < radius_x || x >= picture.width - radius_x || y < radius_y ||
         y >= picture.height - radius_y;
}

template <Census kCensus>
__global__ void __launch_bounds__(threads)
    census_kernel(const __grid_constant__ CensusArguments a) {
  __shared__ __align__(16) std::uint32_t tile[(tile_height + 2 * radius_y) * tile_pitch];
  constexpr int bits = census_bits(kCensus);
  launch_dependents();
  grid_dependency_wait();

  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * tile_width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * tile_height;
  for (int i = threadIdx.x; i < (tile_height + 2 * radius_y) * tile_pitch; i += threads) {
    const int row = i / tile_pitch;
    tile[i] =
        a.picture.at_or_edge(first_x - radius_x + i - row * tile_pitch, first_y - radius_y + row);
  }
  __syncthreads();

  const int column = threadIdx.x % 32 * pixels;
  const int x = first_x + column;
  const int y = first_y + threadIdx.x / 32;
  if (x >= a.picture.width || y >= a.picture.height)
    return;
  const std::uint32_t* own = tile + (threadIdx.x / 32 + radius_y) * tile_pitch + column;
  FeatureBits<bits> made[pixels];
  if constexpr (kCensus == Census::symmetric_9x7)
    symmetric(own, made);
  else if constexpr (kCensus == Census::neighbours_9x7)
    neighbours<radius_x, radius_y>(own, made);
  else
    neighbours<2, 2>(own, made);
  if (a.clear_border)
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      if (at_border(a.picture, x + i, y))
        made[i] = {};

  const std::int64_t first = static_cast<std::int64_t>(y) * a.picture.width + x;
  if constexpr (bits > 32) {
    // A feature is two words, the lower one first.
    auto* const to = static_cast<uint2*>(a.features) + first;
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      if (x + i < a.picture.width)
        to[i] = {made[i].low, made[i].high};
  } else {
    auto* const to = static_cast<std::uint32_t*>(a.features) + first;
    if (a.whole) {
      *reinterpret_cast<uint4*>(to) = {made[0].low, made[1].low, made[2].low, made[3].low};
      return;
    }
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      if (x + i < a.picture.width)
        to[i] = made[i].low;
  }
}

using Kernel = Launcher<CensusArguments>::Kernel;

Kernel kernel_for(Census census) {
  switch (census) {
    case Census::symmetric_9x7:
      return census_kernel<Census::symmetric_9x7>;
    case Census::neighbours_9x7:
      return census_kernel<Census::neighbours_9x7>;
    default:
      return census_kernel<Census::neighbours_5x5>;
  }
}

}  // namespace

CensusCuda::CensusCuda(Device& device, const StageConfig& config)
    : kernel_(kernel_for(config.census)),
      clear_border_(config.libsgm()),
      launch_(device.stream(), kernel_) {}

void CensusCuda::run(const SamplePlane& picture, void* features) const {
  const int tiles = (picture.width + tile_width - 1) / tile_width;
  const int rows = (picture.height() + tile_height - 1) / tile_height;
  const bool whole =
      picture.width % pixels == 0 && reinterpret_cast<std::uintptr_t>(features) % 16 == 0;
  launch_(kernel_, static_cast<unsigned>(tiles) * static_cast<unsigned>(rows), threads, 0,
          {Samples(picture), features, tiles, whole, clear_border_});
}

}  // namespace cudavision::sgm
