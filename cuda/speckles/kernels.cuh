// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Removes small components on CUDA, with a union-find over runs (compare Playne and Hawick, "A new
// algorithm for parallel connected-component labelling on GPUs", 2018). A run's parent is a run of
// the same component with a smaller or the same number; a root is its own parent. Joining two
// components makes the smaller root the parent of the larger root. The root of a component is
// therefore the first run, regardless of the order of threads.
//
// A warp processes a tile of 32×32 pixels; each lane has the runs of one row. The warp joins runs
// and counts pixels in shared memory, which decides most components. Components larger than a
// speckle are kept. Small components away from borders with other tiles are removed. Small
// components at such a border are open: the next kernel joins open components across borders, and
// keeps them if they touch a kept component. Next, each root within a tile adds its count to the
// component's root and becomes its child. Open runs are then at most two steps from that root. The
// last kernel removes the open runs of small components.

#include "cuda/speckles/tile.cuh"

namespace cudavision::speckles {

template <class Picture>
__global__ void __launch_bounds__(block_threads)
    tiles_kernel(const __grid_constant__ Arguments<Picture> a) {
  using Numbers = TileRuns<Picture>;
  __shared__ std::uint32_t all_parents[tiles_of_block][Numbers::count],
      all_counts[tiles_of_block][Numbers::count];
  launch_dependents();
  grid_dependency_wait();
  const Tile tile(a);
  if (tile.number >= a.tiles)
    return;
  const int lane = tile.lane;
  std::uint32_t* const parents = all_parents[threadIdx.x / 32];
  std::uint32_t* const counts = all_counts[threadIdx.x / 32];
  const TileRow row = read_tile(a, tile.left, tile.top, lane);

  // The first parent is the first touching run above, so that most runs need no join().
  for_each_run(row.starts, [&](int start) {
    const Run run(start, row.starts, row.ink);
    const std::uint32_t number = Numbers::number(start, lane);
    const unsigned touched = row.touched<Picture::diagonals>(run);
    parents[number] = touched == 0
                          ? number
                          : Numbers::number(start_of(row.above_starts, lowest(touched)), lane - 1);
    counts[number] = 0;
  });
  __syncwarp();
  compress_paths<Picture>(parents, row.starts, lane);
  for_each_run(row.starts, [&](int start) {
    const Run run(start, row.starts, row.ink);
    unsigned touched = row.touched<Picture::diagonals>(run);
    while (touched != 0) {
      const unsigned further = row.above_starts & bits_above(lowest(touched));
      touched = further == 0 ? 0 : touched & ~0u << lowest(further);
      if (touched != 0)
        join<true>(parents, Numbers::number(start, lane),
                   Numbers::number(start_of(row.above_starts, lowest(touched)), lane - 1));
    }
  });
  __syncwarp();
  compress_paths<Picture>(parents, row.starts, lane);
  const bool right_border = tile.left + tile_size < a.width;
  const bool row_at_border =
      (lane == 0 && tile.top > 0) || (lane == tile_size - 1 && tile.top + tile_size < a.height);
  for_each_run(row.starts, [&](int start) {
    const Run run(start, row.starts, row.ink);
    const bool at_border =
        row_at_border || (start == 0 && tile.left > 0) || (run.end == tile_size && right_border);
    atomicAdd(counts + parents[Numbers::number(start, lane)],
              static_cast<std::uint32_t>(run.end - start) + (at_border ? border_run : 0));
  });
  __syncwarp();
  unsigned open = 0, starts = 0, roots = 0, removed = 0;
  for_each_run(row.starts, [&](int start) {
    const Run run(start, row.starts, row.ink);
    const std::uint32_t number = Numbers::number(start, lane);
    const std::uint32_t root = parents[number];
    const std::uint32_t count = counts[root] % border_run;
    if (count > a.size)
      return;
    if (counts[root] < border_run) {
      removed |= run.bits();
      return;
    }
    open |= run.bits();
    starts |= 1u << start;
    const std::uint32_t first = Numbers::number(tile.number, 0, 0);
    a.parents[first + number] = first + root;
    a.parents[first + Numbers::number(run.end - 1, lane)] = first + root;
    if (root == number) {
      roots |= 1u << start;
      a.counts[first + number] = count;
    }
  });
  a.open[tile.row()] = open;
  a.starts[tile.row()] = starts;
  a.roots[tile.row()] = roots;
  remove_pixels(a, tile.left, tile.top, lane, removed);
}

/// A pixel at the border of a tile. run is only valid for pixels of open components.
struct BorderPixel {
  bool is_ink, is_open;
  std::uint32_t run;
};

template <class Picture>
__device__ void connect(const Arguments<Picture>& a, const BorderPixel& one,
                        const BorderPixel& other) {
  if (one.is_open && other.is_open)
    join<false>(a.parents, one.run, other.run);
  else if (one.is_open || other.is_open)
    // Marks the component as kept, at its root in one tile. counts_kernel moves the mark.
    atomicMax(a.counts + parent_of<false>(a.parents, one.is_open ? one.run : other.run),
              a.size + 1);
}

/// A warp joins the first row or column of a tile to the adjacent tiles.
template <class Picture>
__global__ void __launch_bounds__(block_threads)
    borders_kernel(const __grid_constant__ Arguments<Picture> a) {
  using Numbers = TileRuns<Picture>;
  using Value = typename Picture::Value;
  constexpr int last = tile_size - 1;
  launch_dependents();
  grid_dependency_wait();
  const Tile border(a);
  const int tile = border.number / 2, lane = border.lane;
  const bool vertical = border.number % 2 == 1;
  const int column = tile % a.columns;
  const int x = column * tile_size + (vertical ? 0 : lane);
  const int y = tile / a.columns * tile_size + (vertical ? lane : 0);
  if (tile >= a.tiles || (vertical ? x : y) == 0)
    return;
  const int beyond = vertical ? tile - 1 : tile - a.columns;
  const auto is_open = [&](int number, int tile_x, int tile_y) {
    return (a.open[std::int64_t{number} * tile_size + tile_y] >> tile_x & 1) != 0;
  };
  const bool inside = x < a.width && y < a.height;
  BorderPixel own{}, other{}, corner{};
  own.is_open = is_open(tile, vertical ? 0 : lane, vertical ? lane : 0);
  other.is_open = is_open(beyond, vertical ? last : lane, vertical ? lane : last);
  // With diagonals, the first and the last pixel of a row touch the corners of two more tiles.
  const int side = lane == 0 ? -1 : 1;
  const bool has_corner = Picture::diagonals && !vertical && (lane == 0 || lane == last) &&
                          column + side >= 0 && column + side < a.columns && x + side < a.width;
  if (has_corner) {
    const int corner_x = lane == 0 ? last : 0;
    corner.is_open = is_open(beyond + side, corner_x, last);
    corner.run = Numbers::number(beyond + side, corner_x, last);
  }
  if (__ballot_sync(whole_warp, own.is_open || other.is_open || corner.is_open) == 0)
    return;
  const Picture& picture = a.picture;
  const Value value = inside ? picture.load(x, y) : picture.background();
  const Value other_value =
      inside ? picture.load(x - vertical, y - !vertical) : picture.background();
  // Returns a mask with the first pixel of each run along the border.
  const auto starts_of = [&](Value values) {
    const auto before = static_cast<Value>(__shfl_up_sync(whole_warp, static_cast<int>(values), 1));
    return ~__ballot_sync(whole_warp, lane > 0 && picture.are_joined(before, values));
  };
  const unsigned starts = starts_of(value), other_starts = starts_of(other_value);
  // Only the first and the last pixel of a run have an entry for its parent.
  own.run =
      vertical ? Numbers::number(tile, 0, lane) : Numbers::number(tile, start_of(starts, lane), 0);
  other.run = vertical ? Numbers::number(beyond, last, lane)
                       : Numbers::number(beyond, start_of(other_starts, lane), last);
  const unsigned touching = __ballot_sync(whole_warp, picture.are_joined(other_value, value));
  // Two runs are joined once, at their first common pixel.
  const unsigned first_touches = touching & ~(touching << 1 & ~starts & ~other_starts);
  if (first_touches >> lane & 1)
    connect(a, own, other);
  if constexpr (Picture::diagonals) {
    own.is_ink = picture.is_ink(value);
    other.is_ink = picture.is_ink(other_value);
    corner.is_ink = has_corner && picture.is_ink(picture.load(x + side, y - 1));
    for (const int step : {-1, 1}) {
      const int next = lane + step;
      BorderPixel diagonal;
      diagonal.is_open = __shfl_sync(whole_warp, other.is_open, next & last);
      diagonal.run = __shfl_sync(whole_warp, other.run, next & last);
      diagonal.is_ink = __shfl_sync(whole_warp, other.is_ink, next & last);
      if (next < 0 || next > last)
        diagonal = corner;
      // If `other`, which touches `own` and `diagonal`, is ink, all three are already joined.
      if (own.is_ink && !other.is_ink && diagonal.is_ink)
        connect(a, own, diagonal);
    }
  }
}

/// Adds the count of each root within a tile to the root of the whole component.
template <class Picture>
__global__ void __launch_bounds__(block_threads)
    counts_kernel(const __grid_constant__ Arguments<Picture> a) {
  launch_dependents();
  grid_dependency_wait();
  const Tile tile(a);
  if (tile.number >= a.tiles)
    return;
  for_each_run(a.roots[tile.row()], [&](int start) {
    const std::uint32_t run = TileRuns<Picture>::number(tile.number, start, tile.lane);
    const std::uint32_t parent = parent_of<false>(a.parents, run);
    if (parent == run)
      return;
    const std::uint32_t root = root_of<false>(a.parents, parent), count = a.counts[run];
    if (count > a.size)
      atomicMax(a.counts + root, count);
    else if (*static_cast<const volatile std::uint32_t*>(a.counts + root) <= a.size)
      atomicAdd(a.counts + root, count);
    a.parents[run] = root;
  });
}

template <class Picture>
__global__ void __launch_bounds__(block_threads)
    remove_kernel(const __grid_constant__ Arguments<Picture> a) {
  launch_dependents();
  grid_dependency_wait();
  const Tile tile(a);
  if (tile.number >= a.tiles)
    return;
  const unsigned open = a.open[tile.row()], starts = a.starts[tile.row()];
  unsigned removed = 0;
  for_each_run(starts, [&](int start) {
    const std::uint32_t run = TileRuns<Picture>::number(tile.number, start, tile.lane);
    if (a.counts[a.parents[a.parents[run]]] <= a.size)
      removed |= Run(start, starts, open).bits();
  });
  remove_pixels(a, tile.left, tile.top, tile.lane, removed);
}

inline std::int64_t tile_count(int width, int height) {
  return std::int64_t{divide_up(width, tile_size)} * divide_up(height, tile_size);
}

/// Returns the bytes of memory for arguments(). The contents need not outlive launch_all().
template <class Picture>
std::size_t scratch_bytes(int width, int height) {
  return sizeof(std::uint32_t) * (2 * TileRuns<Picture>::count + 3 * tile_size) *
         static_cast<std::size_t>(tile_count(width, height));
}

template <class Picture>
Arguments<Picture> arguments(const Picture& picture, int width, int height, void* scratch,
                             int size) {
  Arguments<Picture> a{};
  a.picture = picture;
  a.width = width;
  a.height = height;
  a.columns = divide_up(width, tile_size);
  a.tiles = static_cast<int>(tile_count(width, height));
  a.parents = static_cast<std::uint32_t*>(scratch);
  a.counts = a.parents + std::int64_t{TileRuns<Picture>::count} * a.tiles;
  a.open = a.counts + std::int64_t{TileRuns<Picture>::count} * a.tiles;
  a.starts = a.open + std::int64_t{tile_size} * a.tiles;
  a.roots = a.starts + std::int64_t{tile_size} * a.tiles;
  a.size = static_cast<std::uint32_t>(size);
  return a;
}

/// Calls launch(kernel, blocks, threads, shared bytes, arguments) for each kernel.
template <class Picture, class Launch>
void launch_all(const Arguments<Picture>& a, const Launch& launch) {
  const auto blocks = [](int warps) {
    return static_cast<unsigned>(divide_up(warps, tiles_of_block));
  };
  launch(tiles_kernel<Picture>, blocks(a.tiles), block_threads, 0, a);
  launch(borders_kernel<Picture>, blocks(2 * a.tiles), block_threads, 0, a);
  launch(counts_kernel<Picture>, blocks(a.tiles), block_threads, 0, a);
  launch(remove_kernel<Picture>, blocks(a.tiles), block_threads, 0, a);
}

}  // namespace cudavision::speckles
