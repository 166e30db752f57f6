// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Removes speckles on CUDA with a union-find: each pixel has a parent in its region with a number
// not above its own, and a root is its own parent. Joining two regions makes the smaller root the
// parent of the larger one. In whatever order the threads run, a region's root is its first pixel.
//
// A warp works on a row of a tile of 32 columns. It finds the runs of joined neighbours with one
// ballot, so only runs are joined, counted and looked up: first those of a tile, in shared memory,
// then across the borders of tiles. The roots within tiles then add their counts to the root of the
// whole region.
//
// The runs, rather than the pixels, are joined because smooth maps have few of them. (Compare
// Playne and Hawick, "A new algorithm for parallel connected-component labelling on GPUs", 2018.)

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct SpecklesArguments {
  std::uint16_t* map;
  std::uint32_t* parents;
  std::uint32_t* counts;  // pixels per region of a tile, at its root; nothing elsewhere
  std::uint32_t* roots;   // a bit for each root within a tile; a word for 32 columns of a row
  int width, height;
  int tiles, tile_rows;
  int most_step;
  std::uint32_t size;
};

namespace {

constexpr int tile_width = 32, tile_height = 16;
constexpr int threads = tile_width * tile_height;
constexpr unsigned whole_warp = 0xffffffffu;

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

/// The runs of joined neighbours among the 32 pixels of a warp.
struct Runs {
  unsigned starts;  ///< a bit for the first pixel of each run

  /// value is that of the lane's pixel.
  __device__ Runs(std::uint16_t value, int lane, int most_step) {
    // All lanes take part in the shuffle.
    const auto before =
        static_cast<std::uint16_t>(__shfl_up_sync(whole_warp, static_cast<int>(value), 1));
    starts = ~__ballot_sync(whole_warp, lane > 0 && are_joined(before, value, most_step));
  }

  __device__ bool starts_at(int lane) const { return starts >> lane & 1; }
  __device__ int start_of(int lane) const { return 31 - __clz(starts & ~0u >> (31 - lane)); }
  __device__ unsigned length_from(int start) const {
    const unsigned next = starts & ~1u << start;
    return (next == 0 ? 32 : __ffs(next) - 1) - start;
  }
};

/// Returns the lanes whose joins are enough to join two runs wherever they touch. touching are the
/// lanes whose pixel is joined with that of the other row; of neighbours that lie in the same two
/// runs, the first is enough.
__device__ unsigned first_touches(unsigned touching, unsigned starts, unsigned other_starts) {
  return touching & ~(touching << 1 & ~starts & ~other_starts);
}

/// The place of a warp's row, and of the calling thread's pixel in it.
struct RowPixel {
  int lane, x, y;
  bool inside;
  std::uint32_t number;

  __device__ RowPixel(const SpecklesArguments& a, int tile, int row)
      : lane(static_cast<int>(threadIdx.x) % tile_width),
        x(tile % a.tiles * tile_width + lane),
        y(tile / a.tiles * tile_height + row),
        inside(x < a.width && y < a.height),
        number(static_cast<std::uint32_t>(y) * a.width + x) {}

  __device__ std::uint16_t value(const SpecklesArguments& a) const {
    return inside ? a.map[number] : unknown;
  }
};

__global__ void __launch_bounds__(threads)
    tiles_kernel(const __grid_constant__ SpecklesArguments a) {
  __shared__ std::uint16_t map[threads];
  __shared__ unsigned starts[tile_height];
  __shared__ std::uint32_t parents[threads], counts[threads];
  launch_dependents();
  grid_dependency_wait();
  const int row = static_cast<int>(threadIdx.x) / tile_width;
  const RowPixel at(a, static_cast<int>(blockIdx.x), row);
  const std::uint32_t own = threadIdx.x;
  const std::uint16_t value = at.value(a);
  const Runs runs(value, at.lane, a.most_step);
  const std::uint32_t start = row * tile_width + runs.start_of(at.lane);
  map[own] = value;
  parents[own] = start;
  counts[own] = 0;
  starts[row] = runs.starts;
  __syncthreads();

  if (row > 0) {
    const unsigned touching =
        __ballot_sync(whole_warp, are_joined(map[own - tile_width], value, a.most_step));
    if (first_touches(touching, runs.starts, starts[row - 1]) >> at.lane & 1)
      join<true>(parents, own, own - tile_width);
  }
  __syncthreads();
  // No thread joins any more.
  const bool known = value != unknown;
  std::uint32_t root = runs.starts_at(at.lane) ? root_of<false>(parents, own) : 0;
  root = __shfl_sync(whole_warp, root, runs.start_of(at.lane));
  if (runs.starts_at(at.lane) && known)
    atomicAdd(counts + root, runs.length_from(at.lane));
  const unsigned roots = __ballot_sync(whole_warp, known && root == own);
  __syncthreads();
  if (at.y < a.height && at.lane == 0)
    a.roots[static_cast<std::int64_t>(at.y) * a.tiles + at.x / tile_width] = roots;
  if (!at.inside)
    return;
  if (known && root == own)
    a.counts[at.number] = counts[own];
  a.parents[at.number] =
      at.number + static_cast<std::uint32_t>((static_cast<int>(root / tile_width) - row) * a.width +
                                             static_cast<int>(root % tile_width) - at.lane);
}

/// A warp joins the first row and the first column of a tile with the pixels beyond.
__global__ void __launch_bounds__(threads)
    borders_kernel(const __grid_constant__ SpecklesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int tile = static_cast<int>(blockIdx.x * (threads / 32) + threadIdx.x / 32);
  if (tile >= a.tiles * a.tile_rows)
    return;
  const RowPixel top(a, tile, 0);
  if (top.y > 0) {
    const std::uint16_t value = top.value(a);
    const std::uint16_t above = top.inside ? a.map[top.number - a.width] : unknown;
    const Runs runs(value, top.lane, a.most_step);
    const Runs runs_above(above, top.lane, a.most_step);
    const unsigned touching = __ballot_sync(whole_warp, are_joined(above, value, a.most_step));
    if (first_touches(touching, runs.starts, runs_above.starts) >> top.lane & 1)
      join<false>(a.parents, top.number, top.number - a.width);
  }
  const int x = top.x - top.lane;
  if (x > 0) {
    // The same, with columns in place of rows.
    const int y = top.y + top.lane;
    const bool inside = top.lane < tile_height && y < a.height;
    const std::uint32_t number = static_cast<std::uint32_t>(y) * a.width + x;
    const std::uint16_t value = inside ? a.map[number] : unknown;
    const std::uint16_t beside = inside ? a.map[number - 1] : unknown;
    const Runs runs(value, top.lane, a.most_step);
    const Runs runs_beside(beside, top.lane, a.most_step);
    const unsigned touching = __ballot_sync(whole_warp, are_joined(beside, value, a.most_step));
    if (first_touches(touching, runs.starts, runs_beside.starts) >> top.lane & 1)
      join<false>(a.parents, number, number - 1);
  }
}

/// A thread adds the counts of 32 pixels of a row that are roots within their tile.
__global__ void __launch_bounds__(threads)
    counts_kernel(const __grid_constant__ SpecklesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const std::int64_t word = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (word >= static_cast<std::int64_t>(a.tiles) * a.height)
    return;
  const auto first = static_cast<std::uint32_t>(word / a.tiles * a.width + word % a.tiles * 32);
  for (unsigned roots = a.roots[word]; roots != 0; roots &= roots - 1) {
    const std::uint32_t pixel = first + __ffs(static_cast<int>(roots)) - 1;
    const std::uint32_t parent = parent_of<false>(a.parents, pixel);
    if (parent == pixel)
      continue;
    const std::uint32_t root = root_of<false>(a.parents, parent);
    atomicAdd(a.counts + root, a.counts[pixel]);
    a.parents[pixel] = root;  // shortens the path for the next kernel
  }
}

__global__ void __launch_bounds__(threads)
    remove_kernel(const __grid_constant__ SpecklesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const RowPixel at(a, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x) / tile_width);
  if (at.inside && a.map[at.number] != unknown &&
      a.counts[root_of<false>(a.parents, at.number)] <= a.size)
    a.map[at.number] = unknown;
}

int tiles_of(int size, int tile) {
  return (size + tile - 1) / tile;
}

}  // namespace

SpecklesCuda::SpecklesCuda(Device& device, const StageConfig& config, void* scratch)
    : config_(config),
      scratch_(scratch),
      roots_(device.allocate(sizeof(std::uint32_t) *
                             static_cast<std::size_t>(tiles_of(config.width, tile_width)) *
                             static_cast<std::size_t>(config.height))),
      launch_(device.stream(), tiles_kernel) {}

void SpecklesCuda::run(int size, int most_step, std::uint16_t* map) const {
  SpecklesArguments a{};
  a.map = map;
  a.parents = static_cast<std::uint32_t*>(scratch_);
  a.counts = a.parents + config_.pixels();
  a.roots = roots_.as<std::uint32_t>();
  a.width = config_.width;
  a.height = config_.height;
  a.tiles = tiles_of(config_.width, tile_width);
  a.tile_rows = tiles_of(config_.height, tile_height);
  a.size = static_cast<std::uint32_t>(size);
  a.most_step = most_step;
  const auto blocks = [](std::int64_t work) {
    return static_cast<unsigned>((work + threads - 1) / threads);
  };
  const std::int64_t tiles = static_cast<std::int64_t>(a.tiles) * a.tile_rows;
  launch_(tiles_kernel, static_cast<unsigned>(tiles), threads, 0, a);
  launch_(borders_kernel, blocks(32 * tiles), threads, 0, a);
  launch_(counts_kernel, blocks(static_cast<std::int64_t>(a.tiles) * a.height), threads, 0, a);
  launch_(remove_kernel, static_cast<unsigned>(tiles), threads, 0, a);
}

}  // namespace cudavision::sgm
