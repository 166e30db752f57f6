// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The runs of a tile and the union-find over them (see kernels.cuh).

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"

namespace cudavision::speckles {

constexpr int tile_size = 32;

/// A Picture has
///
///   using Value
///   static constexpr bool diagonals     ink is joined to all eight neighbours, so there are gaps
///                                       between runs
///   Value load(int x, int y) const
///   Value background() const
///   bool is_ink(Value) const
///   bool are_joined(Value, Value) const     for adjacent pixels of a row or column
///   void remove(int x, int y) const
template <class Picture>
struct Arguments {
  Picture picture;
  /// Indexed by TileRuns::number(). Only open runs have parents; only their roots have counts.
  std::uint32_t *parents, *counts;
  /// Bit masks, one word per row of each tile: pixels of open components, first pixels of open
  /// runs, and first pixels of the runs that are roots within the tile.
  std::uint32_t *open, *starts, *roots;
  int width, height;
  int columns, tiles;  ///< number of tiles per row, and of all tiles
  std::uint32_t size;
};

/// Numbers the runs of a tile. A run has the number of its first pixel. No other run has the number
/// of its last pixel. With diagonals, there are gaps between runs, so half as many numbers suffice.
template <class Picture>
struct TileRuns {
  static constexpr int shift = Picture::diagonals ? 1 : 0;
  static constexpr int count = tile_size * tile_size >> shift;

  __host__ __device__ static std::uint32_t number(int x, int y) {
    return static_cast<std::uint32_t>(y * tile_size + x) >> shift;
  }
  __device__ static std::uint32_t number(int tile, int x, int y) {
    return static_cast<std::uint32_t>(tile) * count + number(x, y);
  }
};

constexpr int tiles_of_block = 4;
constexpr int block_threads = 32 * tiles_of_block;
constexpr unsigned whole_warp = 0xffffffffu;
/// Added to the count of a component for each of its runs at the tile's border.
constexpr std::uint32_t border_run = 1 << 16;
static_assert(tile_size * tile_size < border_run);

/// Other threads may replace a parent by a run nearer to the root; both parents are correct.
/// In shared memory, the read is an atomic addition, because racecheck reports plain reads.
template <bool kShared>
__device__ std::uint32_t parent_of(std::uint32_t* parents, std::uint32_t run) {
  if constexpr (kShared)
    return atomicAdd(parents + run, 0u);
  else
    return *static_cast<const volatile std::uint32_t*>(parents + run);
}

template <bool kShared>
__device__ std::uint32_t root_of(std::uint32_t* parents, std::uint32_t run) {
  for (std::uint32_t parent; (parent = parent_of<kShared>(parents, run)) != run;)
    run = parent;
  return run;
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
    // `high` was no longer a root, so the former parent of `high` must also be joined.
    a = low;
    b = root_of<kShared>(parents, before);
  }
}

__device__ inline int lowest(unsigned bits) {
  return __ffs(static_cast<int>(bits)) - 1;
}

__device__ inline unsigned bits_above(int bit) {
  return ~1u << bit;
}

/// Returns the first pixel of the run that contains pixel x.
__device__ inline int start_of(unsigned starts, int x) {
  return 31 - __clz(static_cast<int>(starts & ~0u >> (31 - x)));
}

struct Run {
  int begin, end;

  /// ink contains the pixels of the run; starts contains the first pixels of all runs in ink.
  __device__ Run(int start, unsigned starts, unsigned ink) : begin(start) {
    const unsigned stops = (starts | ~ink) & bits_above(start);
    end = stops == 0 ? tile_size : lowest(stops);
  }
  __device__ unsigned bits() const { return ~0u >> (32 - (end - begin)) << begin; }
};

/// Calls function(first pixel) for each run.
template <class Function>
__device__ void for_each_run(unsigned starts, const Function& function) {
  for (; starts != 0; starts &= starts - 1)
    function(lowest(starts));
}

/// Makes the root of each run in the tile the run's parent, by pointer jumping. starts contains the
/// first pixels of the runs in the lane's row. All lanes must call this. Plain reads suffice,
/// because barriers separate reads from writes.
template <class Picture>
__device__ void compress_paths(std::uint32_t* parents, unsigned starts, int lane) {
  bool changed;
  do {
    changed = false;
    for (unsigned rest = starts; __any_sync(whole_warp, rest != 0); rest &= rest - 1) {
      const std::uint32_t run = TileRuns<Picture>::number(rest == 0 ? 0 : lowest(rest), lane);
      const std::uint32_t parent = rest == 0 ? 0 : parents[run];
      const std::uint32_t next = rest == 0 ? 0 : parents[parent];
      __syncwarp();
      if (next != parent) {
        parents[run] = next;
        changed = true;
      }
      __syncwarp();
    }
  } while (__any_sync(whole_warp, changed));
}

/// A row of a tile, with masks of the row above. All bits beyond the picture are 0.
struct TileRow {
  unsigned ink, starts, above_starts;
  unsigned touching;  ///< without diagonals: pixels joined to the pixel above
  unsigned above;     ///< with diagonals: ink of the row above

  /// Returns the pixels of the row above that are joined to the run.
  template <bool kDiagonals>
  __device__ unsigned touched(const Run& run) const {
    const unsigned bits = run.bits();
    return kDiagonals ? (bits | bits << 1 | bits >> 1) & above : bits & touching;
  }
};

/// Reads the tile and returns the row of the lane. All lanes must call this.
template <class Picture>
__device__ TileRow read_tile(const Arguments<Picture>& a, int left, int top, int lane) {
  using Value = typename Picture::Value;
  const int x = left + lane;
  TileRow row{};
  unsigned joined = 0;
  Value above = a.picture.background();
  constexpr int rows_at_once = 16;
  for (int first = 0; first < tile_size; first += rows_at_once) {
    // Separate branch-free loops keep the loads of several rows in flight.
    Value values[rows_at_once];
#pragma unroll
    for (int i = 0; i < rows_at_once; ++i)
      values[i] = a.picture.load(min(x, a.width - 1), min(top + first + i, a.height - 1));
#pragma unroll
    for (int i = 0; i < rows_at_once; ++i) {
      if (x >= a.width || top + first + i >= a.height)
        values[i] = a.picture.background();
      const bool is_own = lane == first + i;
      const unsigned ink = __ballot_sync(whole_warp, a.picture.is_ink(values[i]));
      row.ink = is_own ? ink : row.ink;
      if constexpr (!Picture::diagonals) {
        const auto before =
            static_cast<Value>(__shfl_up_sync(whole_warp, static_cast<int>(values[i]), 1));
        const unsigned to_left =
            __ballot_sync(whole_warp, lane > 0 && a.picture.are_joined(before, values[i]));
        const unsigned to_above = __ballot_sync(whole_warp, a.picture.are_joined(above, values[i]));
        joined = is_own ? to_left : joined;
        row.touching = is_own && first + i > 0 ? to_above : row.touching;
        above = values[i];
      }
    }
  }
  row.starts = row.ink & ~(Picture::diagonals ? row.ink << 1 : joined);
  row.above_starts = __shfl_up_sync(whole_warp, row.starts, 1);
  row.above = __shfl_up_sync(whole_warp, row.ink, 1);
  if (lane == 0)
    row.above_starts = row.above = 0;
  return row;
}

/// Removes the pixels in a mask of the lane's row. All lanes must call this.
template <class Picture>
__device__ void remove_pixels(const Arguments<Picture>& a, int left, int top, int lane,
                              unsigned pixels) {
  for (unsigned rows = __ballot_sync(whole_warp, pixels != 0); rows != 0; rows &= rows - 1) {
    const int y = lowest(rows);
    if (__shfl_sync(whole_warp, pixels, y) >> lane & 1)
      a.picture.remove(left + lane, top + y);
  }
}

struct Tile {
  int number, lane, left, top;

  template <class Picture>
  __device__ explicit Tile(const Arguments<Picture>& a)
      : number(static_cast<int>(blockIdx.x * tiles_of_block + threadIdx.x / 32)),
        lane(static_cast<int>(threadIdx.x) % 32),
        left(number % a.columns * tile_size),
        top(number / a.columns * tile_size) {}
  /// Index of the lane's row in Arguments::open.
  __device__ std::int64_t row() const { return std::int64_t{number} * tile_size + lane; }
};

}  // namespace cudavision::speckles
