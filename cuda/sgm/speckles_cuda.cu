// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions of a map on CUDA: a forest in which each pixel knows another of its region, whose number
// is less than its own. Joining two regions makes the larger of their roots know the smaller. First
// within tiles, in shared memory, where a region's pixels are counted as well; then across the
// tiles' borders; then the roots of the tiles' regions add what they have counted to the root of
// the whole. However the threads come by, a region's root is the least of its pixels.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

constexpr int tile_width = 32, tile_height = 16;
constexpr int threads = tile_width * tile_height;

struct SpecklesArguments {
  std::uint16_t* map;
  std::uint32_t* parents;
  std::uint32_t* counts;  // at the roots of the tiles' regions; 0 elsewhere
  int width, height;
  int tiles;  // beside each other
  int most_step;
  std::uint32_t size;
};

/// Other threads may move a pixel nearer to its root at any time; all that may be read is true. An
/// addition of nothing is the one way to read that also those who look for races take for what it
/// is, where threads share more than device memory.
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
    // high was no root any more: what it knew is to be joined as well.
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
  const std::uint32_t root = root_of<false>(parents, own);  // nobody joins any more
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
  // What is no root of the whole is added to by nobody.
  const std::uint32_t parent = parent_of<false>(a.parents, at.number);
  if (parent == at.number)
    return;
  const std::uint32_t count = a.counts[at.number];
  if (count == 0)
    return;
  const std::uint32_t root = root_of<false>(a.parents, parent);
  atomicAdd(a.counts + root, count);
  a.parents[at.number] = root;  // a shorter way for the next kernel
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

class Backend final : public SpecklesCuda {
 public:
  Backend(Device& device, const Config& config, void* scratch)
      : launch_(device.stream(), tiles_kernel) {
    a_.parents = static_cast<std::uint32_t*>(scratch);
    a_.counts = a_.parents + config.pixels();
    a_.width = config.width;
    a_.height = config.height;
    a_.tiles = (config.width + tile_width - 1) / tile_width;
  }

  void run(int size, int most_step, std::uint16_t* map) const override {
    SpecklesArguments a = a_;
    a.map = map;
    a.size = static_cast<std::uint32_t>(size);
    a.most_step = most_step;
    const unsigned blocks =
        static_cast<unsigned>(a.tiles) * ((a.height + tile_height - 1) / tile_height);
    for (const auto kernel : {tiles_kernel, borders_kernel, counts_kernel, remove_kernel})
      launch_(kernel, blocks, threads, 0, a);
  }

 private:
  SpecklesArguments a_{};
  Launcher<SpecklesArguments> launch_;
};

}  // namespace

std::unique_ptr<SpecklesCuda> make_speckles_cuda(Device& device, const Config& config,
                                                 void* scratch) {
  return std::make_unique<Backend>(device, config, scratch);
}

}  // namespace cudavision::sgm
