// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the kernel of the sweeps. A sweep follows all downward or all upward paths
// together, vertical and diagonal, so that they share the matching costs and one read and write of
// the sums. The two sweeps start at opposite ends, so they never process the same row at once.
//
// A block has a tile of columns. With 8 paths, a launch covers a strip of rows, and each block also
// follows the diagonal paths that enter its tile in this strip, so that blocks need no barrier.
// These paths start in a halo of columns on both sides, which shrinks by one column per row.
// Vertical paths are in registers. Diagonal paths are in shared memory, because they move to the
// next column in each row. Between launches, path costs are stored in device memory as bytes.

#include "cuda/sgm/paths16/sweep_tile.cuh"

namespace cudavision::sgm {

/// Returns the largest number of threads that leaves enough registers to each thread.
constexpr int sweep_threads(int words, int feature_bytes) {
  if (feature_bytes == 4)
    return words == 8 ? 512 : 384;
  return words == 8 ? 384 : 256;
}

/// Returns how many features of the next row a thread loads early. Fewer registers are free on
/// Jetson Thor and, before CUDA 13, on compute capabilities 8.6 to 8.9 and, with 3 steps, 7.5.
__device__ constexpr int early_features(int words, [[maybe_unused]] int feature_bytes,
                                        [[maybe_unused]] int steps) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1100
  if (words != 8 && feature_bytes == 4)
    return 0;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900 && __CUDA_ARCH__ != 800 && \
    __CUDACC_VER_MAJOR__ < 13
  if (words == 16 && feature_bytes == 4 && (__CUDA_ARCH__ > 800 || steps == 3))
    return 0;
#endif
  return words == 8 ? 2 : 1;
}

struct SweepColumns {
  bool main, left_side;
  int slot;     // slot of the first column
  int end;      // end of the slots of the tile, or of the halo on this side
  int nearest;  // columns between the tile and the warp's nearest column; −1 in the tile

  __device__ SweepColumns(const SweepTile& tile, int units, int warp)
      : main(warp < tile.main_warps), left_side(!main && warp < tile.main_warps + tile.halo_warps) {
    if (main) {
      slot = tile.halo + warp * units;
      end = tile.halo + tile.columns;
      nearest = -1;
    } else if (left_side) {
      slot = (warp - tile.main_warps) * units;
      end = tile.halo;
      nearest = end - min(slot + units, end);
    } else {
      nearest = (warp - tile.main_warps - tile.halo_warps) * units;
      slot = tile.halo + tile.columns + nearest;
      end = tile.slots();
    }
  }
};

/// With kDiagonal, also follows two diagonal paths: path 0 with dx = 1, and path 1 with dx = −1.
/// Without kSums, computes only states.
template <int kWords, int kSteps, class Feature, bool kDiagonal, bool kSums>
__global__ void __launch_bounds__(sweep_threads(kWords, sizeof(Feature)), 1)
    sweep_kernel(const __grid_constant__ SweepArguments a) {
  using Shared = SweepShared<kWords, Feature>;
  constexpr int vectors = kWords / 8;  // vectors per lane and path, with costs as bytes
  // Sums are loaded one row early if registers suffice.
  constexpr bool early = kSums && kWords == 8;
  extern __shared__ uint4 sweep_shared[];
  launch_dependents();
  grid_dependency_wait();

  const std::uint32_t p1 = a.penalty.in_halves();
  const PathLanes<kSteps> lanes(a.lanes, a.units);
  const SweepColumns columns(a.tile, a.units, threadIdx.x / 32);
  // Surplus lanes repeat lane 0 of the warp's first column and store nothing.
  const bool used = lanes.used && columns.slot + lanes.unit < columns.end;
  const int slot = columns.slot + (used ? lanes.unit : 0);
  const int lane = used ? lanes.lane : 0;
  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * a.tile.columns - a.tile.halo;
  const int x = first_x + slot;
  const bool inside = used && static_cast<unsigned>(x) < static_cast<unsigned>(a.width);
  // Outside the picture all costs are 0, so paths that enter from there begin with 0.
  std::uint32_t mask = inside ? ~0u : 0;
  make_opaque(mask);  // the XOR applies the mask for free (LOP3); a condition takes an instruction
  // In the halo: the column's distance to the tile, and the path that enters the tile on this side.
  const int distance = columns.left_side ? columns.end - 1 - slot : columns.nearest + lanes.unit;
  const int side_path = columns.main || columns.left_side ? 0 : 1;
  const int side_p2 = 0x4040 + 0x0202 * side_path;

  // This lane's position in device memory in the first row, and the step from row to row.
  const int sweep = a.first_sweep + static_cast<int>(blockIdx.x) / a.tiles;
  const std::int64_t row =
      static_cast<std::int64_t>(sweep == 0 ? a.begin : a.height - 1 - a.begin) * a.width;
  const int row_step = sweep == 0 ? a.width : -a.width;
  const auto* const left = static_cast<const Feature*>(a.left);
  const std::uint32_t* const p2s = a.p2[sweep];
  std::int64_t pixel = row + x;
  const int pixel_vectors = a.disparities / 8;
  const int higher = pixel_vectors / 2;
  uint4* sums_at = reinterpret_cast<uint4*>(a.sums) + (row + x) * pixel_vectors + lane * vectors;
  const int sums_step = row_step * pixel_vectors;
  constexpr int paths = kDiagonal ? 3 : 1;
  const auto state_at = [&](int path) {
    return ((static_cast<std::int64_t>(sweep) * paths + path) * a.width + x) * (a.lanes * vectors) +
           lane * vectors;
  };

  // Positions within a row's data in shared memory, which holds one or two rows.
  const int other_row = a.twice ? Shared::size(a, kDiagonal) : 0;
  const int window = Shared::window(a, lane, slot);
  const int window_higher = a.disparities / 2 / Shared::copies;
  const int cell = Shared::cell(a, side_path, lane, slot);
  const int cell_step = a.lanes * a.cell_slots;  // offset from vector to vector
  const int cells = Shared::cells(a);            // offset from path to path
  const int came_from = side_path == 0 ? -1 : 1;
  const int min_place = 4 * Shared::min_begin(a) + side_path * a.cell_slots + slot;

  const auto minima = [&](int at) {
    return reinterpret_cast<std::uint32_t*>(sweep_shared + at) + min_place;
  };

  std::uint32_t straight[kWords];
  std::uint32_t minimum = 0;  // smallest cost of the vertical path; subtracted from saved states
  const auto load_state = [&](int path, std::uint32_t(&words)[kWords]) {
    uint4 bytes[vectors]{};
    if (inside && a.begin > 0)
#pragma unroll
      for (int i = 0; i < vectors; ++i)
        bytes[i] = a.from[state_at(path) + i];
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      words[k] = word_of_bytes(bytes, k);
  };
  FeatureStage<Feature, early_features(kWords, sizeof(Feature), kSteps)> stage(a, first_x, row);
  stage.load(0);
  if constexpr (kDiagonal) {
    std::uint32_t words[kWords];
    load_state(side_path, words);
    if (used)
      store_words(words, sweep_shared + other_row + cell, cell_step);
    if (columns.main) {
      load_state(1, words);
      if (used)
        store_words(words, sweep_shared + other_row + cell + cells, cell_step);
    }
    if (used && lane == 0)
      minima(other_row)[0] = minima(other_row)[columns.main ? a.cell_slots : 0] = 0;
  }
  load_state(paths - 1, straight);
  stage.put(sweep_shared);

  Feature left_feature{};
  std::uint32_t p2 = 0;
  SweepSums<kWords> sums{}, next_sums{};
  if (inside) {
    left_feature = left[pixel];
    p2 = p2s[pixel];
    if (kSums && columns.main)
      sums.load(sums_at, higher);
  }
  __syncthreads();

  int now = 0, other = other_row;  // positions of the data of this row and of the previous row
  for (int r = 0; r < a.rows; ++r) {
    const bool more = r + 1 < a.rows;
    if (more) {
      stage.load(row_step);
      if (early && inside && columns.main)
        next_sums.load(sums_at + sums_step, higher);
    }
    const int furthest = a.tile.halo - 2 - r;  // largest distance from which paths enter the tile
    const bool warp_works = columns.nearest <= furthest || columns.main;
    const bool works = used && distance <= furthest;

    std::uint32_t costs[kWords];
    std::uint32_t first[kWords], second[kWords];  // diagonal paths
    std::uint32_t first_min = 0, second_min = 0;
    const uint4* const cell_before = sweep_shared + other + cell + came_from;
    if (columns.main) {
      matching_costs(sweep_shared + now + window, window_higher, left_feature, mask, costs);
      if constexpr (kDiagonal) {
        load_words(cell_before, cell_step, first);
        load_words(cell_before + cells + 2, cell_step, second);
        first_min = minima(other)[-1];
        second_min = minima(other)[a.cell_slots + 1];
      }
    } else {
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        costs[k] = first[k] = second[k] = 0;
      if (works) {
        matching_costs(sweep_shared + now + window, window_higher, left_feature, mask, costs);
        load_words(cell_before, cell_step, first);
        first_min = minima(other)[came_from];
      }
    }
    const std::uint32_t p2_now = p2;
    pixel += row_step;
    if (inside && more) {
      left_feature = left[pixel];
      p2 = p2s[pixel];
    }
    if (!a.twice)
      __syncthreads();  // all threads have read the data that this row overwrites

    if (columns.main) {
      advance(lanes, costs, p1, __byte_perm(p2_now, 0, 0x4141), minimum, straight);
      std::uint32_t total[kWords];
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        total[k] = straight[k];
      if constexpr (kDiagonal) {
        advance(lanes, costs, p1, __byte_perm(p2_now, 0, 0x4040), first_min, first);
        advance(lanes, costs, p1, __byte_perm(p2_now, 0, 0x4242), second_min, second);
        first_min = min_of(first);
        second_min = min_of(second);
        min_costs(lanes, first_min, second_min);
        if (used) {
          store_words(first, sweep_shared + now + cell, cell_step);
          store_words(second, sweep_shared + now + cell + cells, cell_step);
          if (lane == 0) {
            minima(now)[0] = first_min;
            minima(now)[a.cell_slots] = second_min;
          }
        }
#pragma unroll
        for (int k = 0; k < kWords; ++k)
          total[k] += first[k] + second[k];
      }
      minimum = min_cost(lanes, min_of(straight));
      if (kSums && inside)
        sums.add_and_store(total, sums_at, higher);
      sums_at += sums_step;
      if (early)
        sums = next_sums;
      else if (kSums && inside && more)
        sums.load(sums_at, higher);
    } else if (warp_works) {
      advance(lanes, costs, p1, __byte_perm(p2_now, 0, side_p2), first_min, first);
      first_min = min_cost(lanes, min_of(first));
      if (works) {
        store_words(first, sweep_shared + now + cell, cell_step);
        if (lane == 0)
          *minima(now) = first_min;
      }
    }
    if (more)
      stage.put(sweep_shared + other);
    __syncthreads();
    const int made = now;
    now = other;
    other = made;
  }

  if (!columns.main || !inside)
    return;
  const auto save_state = [&](int path, std::uint32_t min_cost, std::uint32_t(&words)[kWords]) {
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      words[k] -= min_cost;
    store_bytes(words, a.to + state_at(path));
  };
  save_state(paths - 1, minimum, straight);
  if constexpr (kDiagonal)
#pragma unroll
    for (int path = 0; path < 2; ++path) {
      std::uint32_t words[kWords];
      load_words(sweep_shared + other + cell + path * cells, cell_step, words);
      save_state(path, minima(other)[path * a.cell_slots], words);
    }
}

}  // namespace cudavision::sgm
