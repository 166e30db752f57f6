// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Removes speckles on CUDA with a union-find: each pixel has a parent in its region with a number
// not above its own, and a root is its own parent. Joining two regions makes the smaller root the
// parent of the larger one. Regions are first joined and their pixels counted within tiles, in
// shared memory. Then they are joined across the borders of tiles, and the roots within tiles add
// their counts to the root of the whole region. In whatever order the threads run, a region's root
// is its first pixel.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct SpecklesArguments {
  std::uint16_t* map;
  std::uint32_t* parents;
  std::uint32_t* counts;  // pixels per region of a tile, at its root; 0 elsewhere
  int width, height;
  int tiles;  // per row of tiles
  int most_step;
  std::uint32_t size;
};

namespace {

constexpr int tile_width = 32, tile_height = 16;
constexpr int threads = tile_width * tile_height;

/// Other threads may replace a parent by one nearer to the root at any time, and either one is
/// correct. In shared memory the read is an atomic addition of 0, because racecheck reports any
/// other read beside atomics as a race.
template <bool kShared>
__device__ std::uint32_t parent_of(std::uint32_t* parents, std::uint32_t pixel) {
  if constexpr (kShared)
    return atomicAdd(parents + pixel, 0u);
  else
    return *static_cast<const volatile std::uint32_t*>(parents + pixel);
}

template <bool kShared>
__device__ std::uint32_t root_of(std::uint32_t* parents, std::uint32_t pixel) {
  for (std::uint32_t parent; (parent = parent_of<kShared>(parents, pixel)) != pixel;)
    pixel = parent;
  return pixel;
}

template <bool kShared>
__device__ void join(std::uint32_t* parents, std::uint32_t a, std::uint32_t b) {
  a = root_of<kShared>(parents, a);
  b = root_of<kShared>(parents, b);
  while (a != b) {
    const std::uint32_t low = min(a, b), high = max(a, b);
    const std::uint32_t before = atomicMin(parents + high, low);
    if (before == high)
      return;
    // high was not a root any more, so join its former parent as well.
    a = low;
    b = root_of<kShared>(parents, before);
  }
}

struct TilePixel {
  int x, y;
  bool inside;
  std::uint32_t number;

  __device__ explicit TilePixel(const SpecklesArguments& a)
      : x(static_cast<int>(blockIdx.x % a.tiles) * tile_width + threadIdx.x % tile_width),
        y(static_cast<int>(blockIdx.x / a.tiles) * tile_height + threadIdx.x / tile_width),
        inside(x < a.width && y < a.height),
        number(static_cast<std::uint32_t>(y) * a.width + x) {}
};

__global__ void __launch_bounds__(threads)
    tiles_kernel(const __grid_constant__ SpecklesArguments a) {
  __shared__ std::uint16_t map[threads];
  __shared__ std::uint32_t parents[threads];
  __shared__ std::uint32_t counts[threads];
  launch_dependents();
  grid_dependency_wait();
  const TilePixel at(a);
  const std::uint32_t own = threadIdx.x;
  const std::uint16_t value = at.inside ? a.map[at.number] : unknown;
  map[own] = value;
  parents[own] = own;
  counts[own] = 0;
  __syncthreads();
  if (own % tile_width != 0 && are_joined(map[own - 1], value, a.most_step))
    join<true>(parents, own, own - 1);
  if (own >= tile_width && are_joined(map[own - tile_width], value, a.most_step))
    join<true>(parents, own, own - tile_width);
  __syncthreads();
  const std::uint32_t root = root_of<false>(parents, own);  // no thread joins any more
  if (value != unknown)
    atomicAdd(counts + root, 1u);
  __syncthreads();
  if (!at.inside)
    return;
  a.counts[at.number] = counts[own];
  a.parents[at.number] =
      at.number +
      static_cast<std::uint32_t>(
          (static_cast<int>(root / tile_width) - static_cast<int>(own / tile_width)) * a.width +
          static_cast<int>(root % tile_width) - static_cast<int>(own % tile_width));
}

__global__ void __launch_bounds__(threads)
    borders_kernel(const __grid_constant__ SpecklesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const TilePixel at(a);
  if (!at.inside)
    return;
  if (threadIdx.x % tile_width == 0 && at.x > 0 &&
      are_joined(a.map[at.number - 1], a.map[at.number], a.most_step))
    join<false>(a.parents, at.number, at.number - 1);
  if (threadIdx.x < tile_width && at.y > 0 &&
      are_joined(a.map[at.number - a.width], a.map[at.number], a.most_step))
    join<false>(a.parents, at.number, at.number - a.width);
}

__global__ void __launch_bounds__(threads)
    counts_kernel(const __grid_constant__ SpecklesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const TilePixel at(a);
  if (!at.inside)
    return;
  // Only counts at the roots of whole regions change, so this one can be read without atomics.
  const std::uint32_t parent = parent_of<false>(a.parents, at.number);
  if (parent == at.number)
    return;
  const std::uint32_t count = a.counts[at.number];
  if (count == 0)
    return;
  const std::uint32_t root = root_of<false>(a.parents, parent);
  atomicAdd(a.counts + root, count);
  a.parents[at.number] = root;  // shortens the path for the next kernel
}

__global__ void __launch_bounds__(threads)
    remove_kernel(const __grid_constant__ SpecklesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const TilePixel at(a);
  if (at.inside && a.map[at.number] != unknown &&
      a.counts[root_of<false>(a.parents, at.number)] <= a.size)
    a.map[at.number] = unknown;
}

}  // namespace

SpecklesCuda::SpecklesCuda(Device& device, const StageConfig& config, void* scratch)
    : config_(config), scratch_(scratch), launch_(device.stream(), tiles_kernel) {}

void SpecklesCuda::run(int size, int most_step, std::uint16_t* map) const {
  SpecklesArguments a{};
  a.map = map;
  a.parents = static_cast<std::uint32_t*>(scratch_);
  a.counts = a.parents + config_.pixels();
  a.width = config_.width;
  a.height = config_.height;
  a.tiles = (config_.width + tile_width - 1) / tile_width;
  a.size = static_cast<std::uint32_t>(size);
  a.most_step = most_step;
  const unsigned blocks =
      static_cast<unsigned>(a.tiles) * ((a.height + tile_height - 1) / tile_height);
  for (const auto kernel : {tiles_kernel, borders_kernel, counts_kernel, remove_kernel})
    launch_(kernel, blocks, threads, 0, a);
}

}  // namespace cudavision::sgm
