// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Census features on CUDA. A block has the samples of its tile and those around it in shared
// memory; a thread makes the features of four pixels beside each other from rows of twelve samples.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

using Census = Parameters::Census;

constexpr int reach_x = 4, reach_y = 3;
constexpr int pixels = 4;  // of a thread
constexpr int tile_width = 32 * pixels, tile_height = 8;
constexpr int threads = 32 * tile_height;
constexpr int window = pixels + 2 * reach_x;
constexpr int tile_pitch = tile_width + 2 * reach_x;

struct CensusArguments {
  Samples picture;
  void* features;
  int tiles;          // beside each other
  bool whole;         // four pixels never go beyond a row's end, and lie at a multiple of four
  bool clear_border;  // as libSGM does
};

/// A feature as it grows. kBits: of the whole.
template <int kBits>
struct FeatureBits {
  std::uint32_t high = 0, low = 0;

  /// number: of the comparison, which says whether a is larger than b.
  __device__ void add(int number, std::uint32_t a, std::uint32_t b) {
    std::uint32_t& word = number < kBits - 32 ? high : low;
    word = __funnelshift_l(b - a, word, 1);  // the highest bit of b − a comes in
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

/// Pairs of pixels opposite each other. tile: the window of the thread's own row.
template <class Bits>
__device__ void symmetric(const std::uint32_t* tile, Bits (&bits)[pixels]) {
  std::uint32_t above[window], below[window];
  int number = 0;
#pragma unroll
  for (int dy = -reach_y; dy < 0; ++dy) {
    load_window(tile + dy * tile_pitch, above);
    load_window(tile - dy * tile_pitch, below);
#pragma unroll
    for (int dx = -reach_x; dx <= reach_x; ++dx, ++number)
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        bits[i].add(number, above[reach_x + i + dx], below[reach_x + i - dx]);
  }
  load_window(tile, above);
#pragma unroll
  for (int dx = -reach_x; dx < 0; ++dx, ++number)
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      bits[i].add(number, above[reach_x + i + dx], above[reach_x + i - dx]);
}

/// The centre against each neighbour.
template <int kReachX, int kReachY, class Bits>
__device__ void neighbours(const std::uint32_t* tile, Bits (&bits)[pixels]) {
  std::uint32_t row[window], centre[pixels];
  load_window(tile, row);
#pragma unroll
  for (int i = 0; i < pixels; ++i)
    centre[i] = row[reach_x + i];
  int number = 0;
#pragma unroll
  for (int dy = -kReachY; dy <= kReachY; ++dy) {
    load_window(tile + dy * tile_pitch, row);
#pragma unroll
    for (int dx = -kReachX; dx <= kReachX; ++dx) {
      if (dx == 0 && dy == 0)
        continue;
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        bits[i].add(number, centre[i], row[reach_x + i + dx]);
      ++number;
    }
  }
}

__device__ bool at_border(const Samples& picture, int x, int y) {
  return x < reach_x || x >= picture.width - reach_x || y < reach_y ||
         y >= picture.height - reach_y;
}

template <Census kCensus>
__global__ void __launch_bounds__(threads)
    census_kernel(const __grid_constant__ CensusArguments a) {
  __shared__ __align__(16) std::uint32_t tile[(tile_height + 2 * reach_y) * tile_pitch];
  constexpr int bits = kCensus == Census::symmetric_9x7    ? 31
                       : kCensus == Census::neighbours_9x7 ? 62
                                                           : 24;
  launch_dependents();
  grid_dependency_wait();

  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * tile_width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * tile_height;
  for (int i = threadIdx.x; i < (tile_height + 2 * reach_y) * tile_pitch; i += threads) {
    const int row = i / tile_pitch;
    tile[i] =
        a.picture.at_or_edge(first_x - reach_x + i - row * tile_pitch, first_y - reach_y + row);
  }
  __syncthreads();

  const int column = threadIdx.x % 32 * pixels;
  const int x = first_x + column;
  const int y = first_y + threadIdx.x / 32;
  if (x >= a.picture.width || y >= a.picture.height)
    return;
  const std::uint32_t* own = tile + (threadIdx.x / 32 + reach_y) * tile_pitch + column;
  FeatureBits<bits> made[pixels];
  if constexpr (kCensus == Census::symmetric_9x7)
    symmetric(own, made);
  else if constexpr (kCensus == Census::neighbours_9x7)
    neighbours<reach_x, reach_y>(own, made);
  else
    neighbours<2, 2>(own, made);
  if (a.clear_border)
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      if (at_border(a.picture, x + i, y))
        made[i] = {};

  const std::int64_t first = static_cast<std::int64_t>(y) * a.picture.width + x;
  if constexpr (bits > 32) {
    // Each feature is as two words, the lower first.
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

class Backend final : public CensusCuda {
 public:
  Backend(Device& device, const Config& config)
      : kernel_(kernel_for(config.census)),
        clear_border_(config.compatibility == Parameters::Compatibility::libsgm),
        launch_(device.stream(), kernel_) {}

  void run(const SamplePlane& picture, void* features) const override {
    const int tiles = (picture.width + tile_width - 1) / tile_width;
    const int rows = (picture.height() + tile_height - 1) / tile_height;
    const bool whole =
        picture.width % pixels == 0 && reinterpret_cast<std::uintptr_t>(features) % 16 == 0;
    launch_(kernel_, static_cast<unsigned>(tiles) * static_cast<unsigned>(rows), threads, 0,
            {Samples(picture), features, tiles, whole, clear_border_});
  }

 private:
  Kernel kernel_;
  bool clear_border_;
  Launcher<CensusArguments> launch_;
};

}  // namespace

std::unique_ptr<CensusCuda> make_census_cuda(Device& device, const Config& config) {
  return std::make_unique<Backend>(device, config);
}

}  // namespace cudavision::sgm
