// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Removes speckles on CUDA with a union-find. Each pixel has a parent in its region, whose index is
// not above its own; a root is its own parent. Joining two regions makes the smaller root the
// parent of the larger root. So a region's root is its first pixel, in whatever order threads run.
//
// A warp processes some rows of a tile of 32 columns. One ballot finds the runs of joined
// neighbours in a row, so only runs are joined and counted: first within a tile, in shared memory.
// Most regions are decided there. A region with more pixels than a speckle stays, whatever joins it
// outside the tile. A region that does not reach the border of the tile is complete. Only small
// regions at the border are open. Open regions are then joined across borders; if one is joined
// with a region that stays, it stays, too. The parent of an open pixel is its root within the tile;
// the parent of such a root is a pixel nearer to the root of the whole region. Finally the roots
// within tiles add their counts to the region's root and make it their parent. Then every open
// pixel finds it in two steps.
//
// Runs are joined instead of pixels, because smooth maps have few runs. (Compare Playne and Hawick,
// "A new algorithm for parallel connected-component labelling on GPUs", 2018.)

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct SpecklesArguments {
  std::uint16_t* map;
  std::uint32_t *parents, *counts;
  // Parents are used in open regions only, and counts only at the roots of open regions in tiles.
  // A bit for each open pixel, or root of open pixels in a tile; 32 columns of a row per word.
  std::uint32_t *open, *roots;
  int width, height;
  int tiles;  // in a row of tiles
  int max_step;
  std::uint32_t size;
};

namespace {

constexpr int tile_width = 32, tile_height = 32, tile_pixels = tile_width * tile_height;
constexpr int threads = 256;
constexpr int warp_rows = tile_pixels / threads;  // of a tile, per warp
constexpr unsigned whole_warp = 0xffffffffu;
/// Added to the count of a region for each of its runs at the border of the tile.
constexpr std::uint32_t border_run = 1 << 16;
static_assert(tile_pixels < border_run);

/// Other threads may replace a parent by a pixel nearer to the root at any time; both are correct.
/// In shared memory the read is an atomic addition of 0, because racecheck rejects other reads.
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
    // high was no longer a root, so its former parent must be joined as well.
    a = low;
    b = root_of<kShared>(parents, before);
  }
}

struct Runs {
  unsigned starts;  ///< a bit for the first pixel of each run

  __device__ int start_of(int lane) const { return 31 - __clz(starts & ~0u >> (31 - lane)); }
  __device__ unsigned length_from(int start) const {
    const unsigned next = starts & ~1u << start;
    return (next == 0 ? 32 : __ffs(next) - 1) - start;
  }
  __device__ unsigned bits_from(int start) const {
    return ~0u >> (32 - length_from(start)) << start;
  }
};

/// value belongs to the lane's pixel. All lanes must call this.
__device__ Runs find_runs(std::uint16_t value, int lane, int max_step) {
  const auto before =
      static_cast<std::uint16_t>(__shfl_up_sync(whole_warp, static_cast<int>(value), 1));
  return {~__ballot_sync(whole_warp, lane > 0 && are_joined(before, value, max_step))};
}

/// Returns the lanes whose joins suffice to join touching runs of two rows. touching has the lanes
/// whose pixels are joined. Of neighbours in the same two runs, the first suffices.
__device__ unsigned first_touches(unsigned touching, unsigned starts, unsigned other_starts) {
  return touching & ~(touching << 1 & ~starts & ~other_starts);
}

struct LaneColumn {
  int lane, row, x, y;  ///< row is y within the tile
  std::uint32_t first;

  __device__ explicit LaneColumn(const SpecklesArguments& a)
      : lane(static_cast<int>(threadIdx.x) % 32),
        row(static_cast<int>(threadIdx.x) / 32 * warp_rows),
        x(static_cast<int>(blockIdx.x % a.tiles) * tile_width + lane),
        y(static_cast<int>(blockIdx.x / a.tiles) * tile_height + row),
        first(static_cast<std::uint32_t>(y) * a.width + x) {}

  __device__ bool inside(const SpecklesArguments& a, int i) const {
    return x < a.width && y + i < a.height;
  }
  __device__ std::uint32_t number(const SpecklesArguments& a, int i) const {
    return first + static_cast<std::uint32_t>(i) * a.width;
  }
};

__global__ void __launch_bounds__(threads)
    tiles_kernel(const __grid_constant__ SpecklesArguments a) {
  __shared__ std::uint16_t map[tile_pixels];
  __shared__ unsigned starts[tile_height];
  __shared__ std::uint32_t parents[tile_pixels], counts[tile_pixels];
  launch_dependents();
  grid_dependency_wait();
  const LaneColumn at(a);
  const std::uint32_t own = at.row * tile_width + at.lane;  // within the tile, in the first row
  std::uint16_t values[warp_rows];
  Runs runs[warp_rows];
#pragma unroll
  for (int i = 0; i < warp_rows; ++i)
    values[i] = at.inside(a, i) ? a.map[at.number(a, i)] : unknown;
  // The first pixel of each run or, if the run touches a run in the row above, the label of that
  // run. So most runs of a warp need no join().
  std::uint32_t labels[warp_rows];
  unsigned touching[warp_rows] = {};
#pragma unroll
  for (int i = 0; i < warp_rows; ++i) {
    runs[i] = find_runs(values[i], at.lane, a.max_step);
    const int start = runs[i].start_of(at.lane);
    labels[i] = own + i * tile_width - at.lane + start;
    if (i > 0) {
      touching[i] = __ballot_sync(whole_warp, are_joined(values[i - 1], values[i], a.max_step));
      const unsigned touching_run = touching[i] & runs[i].bits_from(start);
      const std::uint32_t above =
          __shfl_sync(whole_warp, labels[i - 1], (__ffs(static_cast<int>(touching_run)) - 1) & 31);
      labels[i] = touching_run != 0 ? above : labels[i];
    }
    const std::uint32_t pixel = own + i * tile_width;
    map[pixel] = values[i];
    parents[pixel] = labels[i];
    counts[pixel] = 0;
    starts[at.row + i] = runs[i].starts;
  }
  __syncthreads();

#pragma unroll
  for (int i = 0; i < warp_rows; ++i) {
    if (at.row + i == 0)
      continue;
    const std::uint32_t above = own + (i - 1) * tile_width;
    if (i == 0)
      touching[i] = __ballot_sync(whole_warp, are_joined(map[above], values[i], a.max_step));
    const bool is_first =
        first_touches(touching[i], runs[i].starts, starts[at.row + i - 1]) >> at.lane & 1;
    if (is_first && (i == 0 || labels[i] != labels[i - 1]))
      join<true>(parents, labels[i], i == 0 ? above : labels[i - 1]);
  }
  __syncthreads();
  // All runs of the tile are joined; the roots are final.
  const bool last_column = at.x - at.lane + tile_width >= a.width;
  std::uint32_t roots[warp_rows];
#pragma unroll
  for (int i = 0; i < warp_rows; ++i) {
    const int start = runs[i].start_of(at.lane);
    const std::uint32_t root = start == at.lane ? root_of<false>(parents, labels[i]) : 0;
    roots[i] = __shfl_sync(whole_warp, root, start);
    if (start == at.lane && values[i] != unknown) {
      const unsigned length = runs[i].length_from(start);
      const int row = at.row + i;
      const bool reaches_border =
          (row == 0 && at.y + i > 0) || (row == tile_height - 1 && at.y + i < a.height - 1) ||
          (start == 0 && at.x > 0) || (start + length == tile_width && !last_column);
      atomicAdd(counts + root, length + (reaches_border ? border_run : 0));
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < warp_rows; ++i) {
    const std::uint32_t pixel = own + i * tile_width;
    const std::uint32_t found = values[i] == unknown ? ~0u : counts[roots[i]];
    const std::uint32_t count = found % border_run;
    const bool small = values[i] != unknown && count <= a.size;
    const bool is_open = small && found >= border_run, is_root = roots[i] == pixel;
    const unsigned open = __ballot_sync(whole_warp, is_open);
    const unsigned open_roots = __ballot_sync(whole_warp, is_open && is_root);
    if (at.lane == 0 && at.y + i < a.height) {
      const std::int64_t word = static_cast<std::int64_t>(at.y + i) * a.tiles + at.x / tile_width;
      a.open[word] = open;
      a.roots[word] = open_roots;
    }
    const std::uint32_t number = at.number(a, i);
    if (is_open) {
      const std::uint32_t rows_above = at.row + i - roots[i] / tile_width;
      a.parents[number] = number - rows_above * a.width - at.lane + roots[i] % tile_width;
      if (is_root)
        a.counts[number] = count;
    } else if (small) {
      a.map[number] = unknown;
    }
  }
}

/// A warp joins the first row or the first column of a tile with the adjacent tile.
__global__ void __launch_bounds__(threads)
    borders_kernel(const __grid_constant__ SpecklesArguments a) {
  static_assert(tile_width == 32 && tile_height == 32);
  launch_dependents();
  grid_dependency_wait();
  const int border = static_cast<int>(blockIdx.x * (threads / 32) + threadIdx.x / 32);
  const int tile = border / 2, lane = static_cast<int>(threadIdx.x) % 32;
  const bool vertical = border % 2 == 1;
  const int column = tile % a.tiles;
  const int x = column * tile_width + (vertical ? 0 : lane);
  const int y = tile / a.tiles * tile_height + (vertical ? lane : 0);
  const bool inside = x < a.width && y < a.height && (vertical ? x : y) > 0;
  bool is_open = false, other_is_open = false;
  if (inside) {
    const std::int64_t word = static_cast<std::int64_t>(y) * a.tiles + column;
    is_open = a.open[word] >> (vertical ? 0 : lane) & 1;
    other_is_open = a.open[vertical ? word - 1 : word - a.tiles] >> (vertical ? 31 : lane) & 1;
  }
  // Without open pixels on either side, there is nothing to join.
  if (__ballot_sync(whole_warp, is_open || other_is_open) == 0)
    return;
  const std::uint32_t pixel = static_cast<std::uint32_t>(y) * a.width + x;
  const std::uint32_t other = pixel - (vertical ? 1 : a.width);
  const std::uint16_t value = inside ? a.map[pixel] : unknown;
  const std::uint16_t other_value = inside ? a.map[other] : unknown;
  const Runs runs = find_runs(value, lane, a.max_step);
  const Runs other_runs = find_runs(other_value, lane, a.max_step);
  const unsigned touching = __ballot_sync(whole_warp, are_joined(other_value, value, a.max_step));
  if (first_touches(touching, runs.starts, other_runs.starts) >> lane & 1) {
    if (is_open && other_is_open)
      join<false>(a.parents, pixel, other);
    else if (is_open || other_is_open)
      // Any pixel of the region with a count can take the maximum.
      atomicMax(a.counts + parent_of<false>(a.parents, is_open ? pixel : other), a.size + 1);
  }
}

__device__ void load_bits(const SpecklesArguments& a, const LaneColumn& at,
                          const std::uint32_t* words, unsigned (&bits)[warp_rows]) {
  const int column = at.x / tile_width;
#pragma unroll
  for (int i = 0; i < warp_rows; ++i)
    bits[i] = at.y + i < a.height
                  ? words[static_cast<std::int64_t>(at.y + i) * a.tiles + column] >> at.lane & 1
                  : 0;
}

__global__ void __launch_bounds__(threads)
    counts_kernel(const __grid_constant__ SpecklesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const LaneColumn at(a);
  unsigned is_root[warp_rows];
  load_bits(a, at, a.roots, is_root);
#pragma unroll
  for (int i = 0; i < warp_rows; ++i) {
    if (!is_root[i])
      continue;
    const std::uint32_t pixel = at.number(a, i), parent = parent_of<false>(a.parents, pixel);
    if (parent == pixel)
      continue;
    const std::uint32_t root = root_of<false>(a.parents, parent), count = a.counts[pixel];
    if (count > a.size)
      atomicMax(a.counts + root, count);
    else if (*static_cast<const volatile std::uint32_t*>(a.counts + root) <= a.size)
      atomicAdd(a.counts + root, count);
    a.parents[pixel] = root;
  }
}

__global__ void __launch_bounds__(threads)
    remove_kernel(const __grid_constant__ SpecklesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const LaneColumn at(a);
  unsigned is_open[warp_rows];
  load_bits(a, at, a.open, is_open);
  std::uint32_t parents[warp_rows] = {}, counts[warp_rows];
  // Separate loops keep the loads of all rows in flight at once.
#pragma unroll
  for (int i = 0; i < warp_rows; ++i)
    if (is_open[i])
      parents[i] = a.parents[at.number(a, i)];
#pragma unroll
  for (int i = 0; i < warp_rows; ++i)
    if (is_open[i])
      parents[i] = a.parents[parents[i]];
#pragma unroll
  for (int i = 0; i < warp_rows; ++i)
    counts[i] = is_open[i] ? a.counts[parents[i]] : ~0u;
#pragma unroll
  for (int i = 0; i < warp_rows; ++i)
    if (counts[i] <= a.size)
      a.map[at.number(a, i)] = unknown;
}

int tiles_of(int size, int tile) {
  return (size + tile - 1) / tile;
}

}  // namespace

SpecklesCuda::SpecklesCuda(Device& device, LaunchQueue& queue, const StageConfig& config,
                           void* scratch)
    : config_(config),
      scratch_(scratch),
      roots_(device.allocate(2 * sizeof(std::uint32_t) *
                             static_cast<std::size_t>(tiles_of(config.width, tile_width)) *
                             static_cast<std::size_t>(config.height))),
      queue_(queue) {}

void SpecklesCuda::run(int size, int max_step, std::uint16_t* map) const {
  SpecklesArguments a{};
  a.map = map;
  a.parents = static_cast<std::uint32_t*>(scratch_);
  a.counts = a.parents + config_.pixels();
  a.width = config_.width;
  a.height = config_.height;
  a.tiles = tiles_of(config_.width, tile_width);
  a.open = roots_.as<std::uint32_t>();
  a.roots = a.open + static_cast<std::int64_t>(a.tiles) * a.height;
  a.size = static_cast<std::uint32_t>(size);
  a.max_step = max_step;
  const auto blocks = [](std::int64_t work) {
    return static_cast<unsigned>((work + threads - 1) / threads);
  };
  const std::int64_t tiles =
      static_cast<std::int64_t>(a.tiles) * tiles_of(config_.height, tile_height);
  queue_.launch(tiles_kernel, static_cast<unsigned>(tiles), threads, 0, a);
  queue_.launch(borders_kernel, blocks(2 * 32 * tiles), threads, 0, a);
  queue_.launch(counts_kernel, static_cast<unsigned>(tiles), threads, 0, a);
  queue_.launch(remove_kernel, static_cast<unsigned>(tiles), threads, 0, a);
}

}  // namespace cudavision::sgm
