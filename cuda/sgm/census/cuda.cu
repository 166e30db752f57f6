// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Census features of one or two pictures on CUDA, and P2 of the left picture for match(). A block
// loads its tile with a halo into shared memory. A thread of census_kernel() computes four pixels.

#include <stdexcept>

#include "cuda/sgm/census/filtered.cuh"

namespace cudavision::sgm {
namespace {

using Census = Config::Census;

constexpr int radius_x = 4, radius_y = 3;
constexpr int pixels = census_pixels, threads = census_threads;
constexpr int tile_width = census_tile_width, tile_height = threads / 32;
constexpr int window = pixels + 2 * radius_x;
constexpr int tile_pitch = tile_width + 2 * radius_x;

template <int kBits>
struct FeatureBits {
  std::uint32_t high = 0, low = 0;

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

/// tile points to the start of the thread's window in the row of the thread's pixels.
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

/// own points to the thread's first pixel in the tile, aligned to 16 bytes.
__device__ void write_pattern_penalties(const StepPenalties& penalties, const std::uint8_t* table,
                                        const std::uint32_t* own, int x, int y, int width) {
  int rows[2][pixels + 2];  // the row above and the pixels' own row, from column x − 1 on
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const std::uint32_t* const from = own + (row - 1) * tile_pitch;
    const int4 four = *reinterpret_cast<const int4*>(from);
    rows[row][0] = static_cast<int>(from[-1]);
    rows[row][1] = four.x, rows[row][2] = four.y, rows[row][3] = four.z, rows[row][4] = four.w;
    rows[row][5] = static_cast<int>(from[pixels]);
  }
  write_penalties(penalties, table, x, y, width, [&](int i, int dx, int dy) {
    return abs(rows[1][1 + i] - rows[1 + dy][1 + i + dx]) >> penalties.step_shift;
  });
}

template <Census kCensus>
__global__ void __launch_bounds__(threads)
    census_kernel(const __grid_constant__ CensusArguments a) {
  constexpr int bits = census_bits(kCensus);
  __shared__ __align__(16) std::uint32_t tile[(tile_height + 2 * radius_y) * tile_pitch];
  __shared__ std::uint32_t edges[2][tile_height];
  __shared__ std::uint8_t table[256];
  launch_dependents();
  grid_dependency_wait();

  const CensusBlock at(a, tile_width, tile_height);
  const Samples& samples = a.pictures[at.picture];
  table[threadIdx.x] = a.penalties.table[threadIdx.x];
  for (int i = threadIdx.x; i < (tile_height + 2 * radius_y) * tile_pitch; i += threads) {
    const int row = i / tile_pitch;
    tile[i] = samples.at_or_edge(at.x - radius_x + i - row * tile_pitch, at.y - radius_y + row);
  }
  __syncthreads();

  const int column = threadIdx.x % 32 * pixels, row = threadIdx.x / 32;
  const int x = at.x + column, y = at.y + row;
  const bool inside = x < samples.width && y < samples.height;
  const std::uint32_t* const own = tile + (row + radius_y) * tile_pitch + column;
  FeatureBits<bits> made[pixels];
  if (inside) {
    if constexpr (kCensus == Census::symmetric_9x7)
      symmetric(own, made);
    else if constexpr (kCensus == Census::neighbours_9x7)
      neighbours<radius_x, radius_y>(own, made);
    else
      neighbours<2, 2>(own, made);
    if (a.clear_border)
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        if (at_border(samples, x + i, y))
          made[i] = {};
  }

  const FeaturePlane& plane = a.features[at.picture];
  if constexpr (bits > 32) {
    auto* const to = static_cast<uint2*>(plane.data) + y * plane.pitch + x;
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      if (inside && x + i < samples.width)
        to[i] = {made[i].low, made[i].high};
  } else {
    std::uint32_t features[pixels];
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      features[i] = made[i].low;
    if (inside) {
      auto* const to = static_cast<std::uint32_t*>(plane.data) + y * plane.pitch + x + plane.shift;
      store_features(a, at.picture, x, features, to, edges[0][row], edges[1][row]);
      if (a.penalties.vertical && at.picture == 0)
        write_pattern_penalties(a.penalties, table, own + radius_x, x, y, samples.width);
    }
    if (!plane.has_margins())
      return;
    __syncthreads();
    fill_outside(a, at, tile_width, edges);
  }
}

Kernel<CensusArguments> kernel_for(Census census) {
  switch (census) {
    case Census::symmetric_9x7:
      return census_kernel<Census::symmetric_9x7>;
    case Census::neighbours_9x7:
      return census_kernel<Census::neighbours_9x7>;
    case Census::neighbours_5x5:
      return census_kernel<Census::neighbours_5x5>;
    default:
      throw std::logic_error(
          "census_cuda() has no kernel of census_gradient: call census_filtered_cuda()");
  }
}

}  // namespace

void census_cuda(const StageResources& resources, std::initializer_list<CensusTask> tasks,
                 const StepPenalties& steps) {
  const CensusArguments a = census_arguments(resources.config, tasks, steps, tile_height);
  resources.queue.launch(kernel_for(resources.config.census),
                         static_cast<unsigned>(tasks.size()) * a.blocks, threads, 0, a);
}

void census_filtered_cuda(const StageResources& resources, std::initializer_list<CensusTask> tasks,
                          const NoiseSource& noise, const StepPenalties& steps,
                          const PathPenalty& penalty) {
  FilteredCensusArguments a{};
  a.census = census_arguments(resources.config, tasks, steps, gradient::tile_height);
  a.noise = noise;
  a.penalty = penalty;
  resources.queue.launch(gradient::filtered_census_kernel,
                         static_cast<unsigned>(tasks.size()) * a.census.blocks, threads, 0, a);
}

}  // namespace cudavision::sgm
