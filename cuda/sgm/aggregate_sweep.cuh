// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the paths from row to row.
//
// A sweep goes over the picture downwards or upwards with all its paths at the same time: they
// share the matching costs and the sums' way to memory and back. The two sweeps set out together
// and meet in the middle, so that no row belongs to both at the same time.
//
// A block has a tile of columns. Diagonal paths cross the tiles' borders; so that blocks need not
// wait for each other, a launch covers a strip of rows, and each block also follows the paths that
// will come in during these rows: those of the columns beside the tile, one column less in each
// row. Paths live in registers (straight ones) and in shared memory (diagonal ones, which are one
// column further in the next row), and between launches in memory, as bytes.

#include "cuda_launch.h"
#include "sgm/pathlanes.cuh"

namespace cudavision::sgm {

/// A block's tile and what belongs to it.
struct SweepTile {
  int main_warps = 8;  ///< that have columns of the tile
  int halo_warps = 2;  ///< on each side; 0 where there are no diagonal paths
  int halo = 8;        ///< columns on each side, and at most as many rows in a launch
  int columns = 32;    ///< of the tile

  CUDAVISION_HOST_DEVICE int slots() const { return columns + 2 * halo; }
  CUDAVISION_HOST_DEVICE int threads() const { return 32 * (main_warps + 2 * halo_warps); }
};

struct SweepArguments {
  const void* left;  // features
  const void* right;
  const std::uint32_t* p2[2];  // of the sweeps down and up: bytes 0, 1, 2 for dx = 1, 0, −1
  std::uint16_t* sums;
  const uint4* from;  // [sweep][path][column][lane], as bytes, the least cost taken off
  uint4* to;
  int width, height, disparities, minimum;
  std::uint32_t p1;  // in both halves
  int lanes, units;
  SweepTile tile;
  int tiles;        // of a sweep
  int first_sweep;  // of this launch
  int begin, rows;  // rows in the order of the sweep
  int copy_length;  // features of one copy, a multiple of those in a vector
  int cell_slots;   // at least tile.slots()
  bool twice;       // two of everything in shared memory: one barrier per row instead of two
};

template <int kWords>
constexpr int sweep_threads = kWords == 8 ? 512 : 384;

/// What of a row is in shared memory: copies of the features of the right picture, from right to
/// left, each moved by one, so that every window begins at a whole vector in one of them; and the
/// two diagonal paths with their least costs.
template <int kWords, class Feature>
struct SweepShared {
  static constexpr int copies = 16 / sizeof(Feature);

  Feature* features;
  uint4* cells;          // [path][vector][lane][slot]
  std::uint32_t* least;  // [path][slot]

  CUDAVISION_HOST_DEVICE static std::size_t bytes(const SweepArguments& a, int paths) {
    const std::size_t cells = paths == 3 ? std::size_t{2} * a.lanes * a.cell_slots : 0;
    return sizeof(Feature) * copies * a.copy_length + cells * kWords * 4 +
           (paths == 3 ? std::size_t{8} * ((a.cell_slots + 1) / 2 * 2) : 0);
  }

  __device__ SweepShared(const SweepArguments& a, int paths, int number) {
    extern __shared__ uint4 sweep_shared[];
    auto* const start = reinterpret_cast<std::uint8_t*>(sweep_shared) + number * bytes(a, paths);
    features = reinterpret_cast<Feature*>(start);
    cells = reinterpret_cast<uint4*>(features + copies * a.copy_length);
    least = reinterpret_cast<std::uint32_t*>(cells + 2 * (kWords / 4) * a.lanes * a.cell_slots);
  }

  __device__ uint4* cell(const SweepArguments& a, int path, int lane, int slot) const {
    return cells + (path * (kWords / 4) * a.lanes + lane) * a.cell_slots + slot;
  }
  __device__ void load(const SweepArguments& a, int path, int lane, int slot,
                       std::uint32_t (&words)[kWords]) const {
    const uint4* from = cell(a, path, lane, slot);
#pragma unroll
    for (int i = 0; i < kWords / 4; ++i) {
      const uint4 vector = from[i * a.lanes * a.cell_slots];
      words[4 * i] = vector.x;
      words[4 * i + 1] = vector.y;
      words[4 * i + 2] = vector.z;
      words[4 * i + 3] = vector.w;
    }
  }
  __device__ void store(const SweepArguments& a, int path, int lane, int slot,
                        const std::uint32_t (&words)[kWords]) const {
    uint4* to = cell(a, path, lane, slot);
#pragma unroll
    for (int i = 0; i < kWords / 4; ++i)
      to[i * a.lanes * a.cell_slots] = {words[4 * i], words[4 * i + 1], words[4 * i + 2],
                                        words[4 * i + 3]};
  }

  /// The matching costs of the pixel in a slot. mask: 0 makes them 0.
  __device__ void costs(const SweepArguments& a, int lane, int slot, Feature left,
                        std::uint32_t mask, std::uint32_t (&costs)[kWords]) const {
    // Feature e of the row is e places left of what the last slot sees at the first disparity.
    const int first = a.tile.slots() - 1 - slot;
    const int copy = -first & (copies - 1);
    const auto* low = reinterpret_cast<const uint4*>(features + copy * a.copy_length + first +
                                                     copy + lane * kWords);
    const uint4* high = low + a.disparities / 2 / copies;
#pragma unroll
    for (int i = 0; i < kWords / copies; ++i) {
      Feature at_low[copies], at_high[copies];
      split(low[i], at_low);
      split(high[i], at_high);
#pragma unroll
      for (int c = 0; c < copies; ++c)
        costs[i * copies + c] =
            differing_bits(left, at_low[c], mask) + (differing_bits(left, at_high[c], mask) << 16);
    }
  }

 private:
  __device__ static void split(const uint4& vector, std::uint32_t (&to)[4]) {
    to[0] = vector.x;
    to[1] = vector.y;
    to[2] = vector.z;
    to[3] = vector.w;
  }
  __device__ static void split(const uint4& vector, std::uint64_t (&to)[2]) {
    to[0] = vector.x | static_cast<std::uint64_t>(vector.y) << 32;
    to[1] = vector.z | static_cast<std::uint64_t>(vector.w) << 32;
  }
};

/// The features of the right picture on their way into shared memory: loaded at the beginning of
/// the row before, put down at its end.
template <class Feature>
struct FeatureStage {
  static constexpr int copies = 16 / sizeof(Feature);
  static constexpr int carried = 2;  // per thread; wide windows have more, which come late
  Feature values[carried];
  int count, last_x;

  __device__ FeatureStage(const SweepArguments& a, int first_x)
      : count(a.tile.slots() - 1 + a.disparities),
        last_x(first_x + a.tile.slots() - 1 - a.minimum) {}

  __device__ Feature feature(const SweepArguments& a, std::int64_t row, int number) const {
    const int x = last_x - number;
    const bool inside = static_cast<unsigned>(x) < static_cast<unsigned>(a.width);
    return inside ? static_cast<const Feature*>(a.right)[row + x] : Feature{0};
  }
  __device__ void load(const SweepArguments& a, std::int64_t row) {
#pragma unroll
    for (int i = 0; i < carried; ++i) {
      const int number = i * blockDim.x + threadIdx.x;
      values[i] = number < count ? feature(a, row, number) : Feature{0};
    }
  }
  __device__ void put(const SweepArguments& a, std::int64_t row, Feature* to) const {
#pragma unroll
    for (int i = 0; i < carried; ++i) {
      const int number = i * blockDim.x + threadIdx.x;
      if (number < count)
        put(a, number, values[i], to);
    }
    for (int number = carried * blockDim.x + threadIdx.x; number < count; number += blockDim.x)
      put(a, number, feature(a, row, number), to);
  }

 private:
  __device__ static void put(const SweepArguments& a, int number, Feature value, Feature* to) {
#pragma unroll
    for (int c = 0; c < copies; ++c)
      to[c * a.copy_length + number + c] = value;
  }
};

/// A pixel's sums, in the vectors that one lane adds to.
template <int kWords>
struct SweepSums {
  uint4 vectors[kWords / 4];

  __device__ static uint4* at(const SweepArguments& a, std::int64_t pixel, int lane, int i) {
    const int half = i / (kWords / 8);
    return reinterpret_cast<uint4*>(a.sums + pixel * a.disparities) +
           (half * a.lanes + lane) * (kWords / 8) + i % (kWords / 8);
  }
  __device__ void load(const SweepArguments& a, std::int64_t pixel, int lane) {
#pragma unroll
    for (int i = 0; i < kWords / 4; ++i)
      vectors[i] = *at(a, pixel, lane, i);
  }
  __device__ void add_and_store(const SweepArguments& a, std::int64_t pixel, int lane,
                                const std::uint32_t (&costs)[kWords]) {
    uint4 more[kWords / 4];
    in_order(costs, more);
#pragma unroll
    for (int i = 0; i < kWords / 4; ++i) {
      more[i].x += vectors[i].x;
      more[i].y += vectors[i].y;
      more[i].z += vectors[i].z;
      more[i].w += vectors[i].w;
      *at(a, pixel, lane, i) = more[i];
    }
  }
};

/// kPaths: 3, or 1 without the diagonal ones.
template <int kWords, int kSteps, class Feature, int kPaths>
__global__ void __launch_bounds__(sweep_threads<kWords>)
    sweep_kernel(const __grid_constant__ SweepArguments a) {
  constexpr bool diagonal = kPaths == 3;
  constexpr int vectors = kWords / 8;
  let_next_launch_in();
  wait_for_last_launch();

  // Which pixels the warp has.
  const PathLanes<kSteps> lanes(a.lanes, a.units);
  const int lane = lanes.lane;
  const int warp = threadIdx.x / 32;
  const int sweep = a.first_sweep + blockIdx.x / a.tiles;
  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * a.tile.columns - a.tile.halo;
  const bool main = warp < a.tile.main_warps;
  const bool left_side = !main && warp < a.tile.main_warps + a.tile.halo_warps;
  int slot, end_slot;
  if (main) {
    slot = a.tile.halo + warp * a.units;
    end_slot = a.tile.halo + a.tile.columns;
  } else if (left_side) {
    slot = (warp - a.tile.main_warps) * a.units;
    end_slot = a.tile.halo;
  } else {
    slot = a.tile.halo + a.tile.columns + (warp - a.tile.main_warps - a.tile.halo_warps) * a.units;
    end_slot = a.tile.slots();
  }
  const int first_slot = slot;
  slot += lanes.unit;
  const bool used = lanes.used && slot < end_slot;
  const int x = first_x + slot;
  const bool inside = used && static_cast<unsigned>(x) < static_cast<unsigned>(a.width);
  // Outside the picture the costs are 0, so that paths that come from there begin with 0 as well.
  const std::uint32_t mask = inside ? ~0u : 0;

  const auto row_of = [&](int number) {
    const int y = sweep == 0 ? number : a.height - 1 - number;
    return static_cast<std::int64_t>(y) * a.width;
  };
  const auto* const left = static_cast<const Feature*>(a.left);
  const std::uint32_t* const p2s = a.p2[sweep];
  const auto state_at = [&](int path) {
    return ((static_cast<std::int64_t>(sweep) * kPaths + path) * a.width + x) *
               (a.lanes * vectors) +
           lane * vectors;
  };

  // Where the paths stand before the first row: paths 0 and 2 are those with dx = 1 and −1.
  std::uint32_t straight[kWords];
  std::uint32_t least = 0;  // of the straight path; what memory has begins with 0
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
  FeatureStage<Feature> stage(a, first_x);
  {
    const SweepShared<kWords, Feature> before(a, kPaths, a.twice ? 1 : 0);
    const SweepShared<kWords, Feature> first(a, kPaths, 0);
    stage.load(a, row_of(a.begin));
    if constexpr (diagonal)
#pragma unroll
      for (int path = 0; path <= 2; path += 2) {
        std::uint32_t words[kWords];
        load_state(path, words);
        // Nobody looks beyond the tile for the path that leads there.
        if (used && (main || left_side == (path == 0))) {
          before.store(a, path / 2, lane, slot, words);
          if (lane == 0)
            before.least[path / 2 * a.cell_slots + slot] = 0;
        }
      }
    load_state(diagonal ? 1 : 0, straight);
    stage.put(a, row_of(a.begin), first.features);
  }
  Feature left_feature{};
  std::uint32_t p2 = 0;
  SweepSums<kWords> sums{};
  const auto load_pixel = [&](std::int64_t pixel) {
    left_feature = left[pixel];
    p2 = p2s[pixel];
  };
  if (inside) {
    load_pixel(row_of(a.begin) + x);
    if (main)
      sums.load(a, row_of(a.begin) + x, lane);
  }
  __syncthreads();

  for (int r = 0; r < a.rows; ++r) {
    const int now = a.twice ? r & 1 : 0;
    const SweepShared<kWords, Feature> shared(a, kPaths, now);
    const SweepShared<kWords, Feature> other(a, kPaths, a.twice ? now ^ 1 : 0);
    const std::int64_t pixel = row_of(a.begin + r) + x;
    const bool more = r + 1 < a.rows;
    const std::int64_t next_row = row_of(a.begin + r + (more ? 1 : 0));
    if (more)
      stage.load(a, next_row);

    // The columns beside the tile whose paths still come in, of the warp and of this pixel.
    bool warp_works = main, works = used;
    if (!main) {
      const int nearest = left_side ? a.tile.halo - 1 - min(first_slot + a.units - 1, end_slot - 1)
                                    : first_slot - a.tile.halo - a.tile.columns;
      const int distance = left_side ? a.tile.halo - 1 - slot : slot - a.tile.halo - a.tile.columns;
      warp_works = nearest <= a.tile.halo - 2 - r;
      works = used && distance <= a.tile.halo - 2 - r;
    }

    std::uint32_t costs[kWords];
    std::uint32_t right_going[kWords], left_going[kWords];  // the diagonal paths; one of them alone
    std::uint32_t right_least = 0, left_least = 0;          // is in the first
    if (warp_works) {
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        costs[k] = right_going[k] = left_going[k] = 0;
      if (works) {
        shared.costs(a, lane, slot, left_feature, mask, costs);
        if constexpr (diagonal) {
          const int path = main || left_side ? 0 : 1;
          const int from = path == 0 ? slot - 1 : slot + 1;
          other.load(a, path, lane, from, right_going);
          right_least = other.least[path * a.cell_slots + from];
          if (main) {
            other.load(a, 1, lane, slot + 1, left_going);
            left_least = other.least[a.cell_slots + slot + 1];
          }
        }
      }
    }
    const std::uint32_t p2_now = p2;
    if (inside && more)
      load_pixel(next_row + x);
    if (!a.twice)
      __syncthreads();  // everything is read that this row overwrites

    if (main) {
      advance(lanes, costs, a.p1, byte_in_halves<1>(p2_now), least, straight);
      std::uint32_t total[kWords];
      if constexpr (diagonal) {
        advance(lanes, costs, a.p1, byte_in_halves<0>(p2_now), right_least, right_going);
        advance(lanes, costs, a.p1, byte_in_halves<2>(p2_now), left_least, left_going);
        right_least = least_of(right_going);
        left_least = least_of(left_going);
        least_costs(lanes, right_least, left_least);
        if (works) {
          shared.store(a, 0, lane, slot, right_going);
          shared.store(a, 1, lane, slot, left_going);
          if (lane == 0) {
            shared.least[slot] = right_least;
            shared.least[a.cell_slots + slot] = left_least;
          }
        }
#pragma unroll
        for (int k = 0; k < kWords; ++k)
          total[k] = straight[k] + right_going[k] + left_going[k];
      } else {
#pragma unroll
        for (int k = 0; k < kWords; ++k)
          total[k] = straight[k];
      }
      least = least_cost(lanes, least_of(straight));
      if (inside) {
        sums.add_and_store(a, pixel, lane, total);
        if (more)
          sums.load(a, next_row + x, lane);
      }
    } else if (warp_works) {
      const std::uint32_t p2_halves =
          left_side ? byte_in_halves<0>(p2_now) : byte_in_halves<2>(p2_now);
      advance(lanes, costs, a.p1, p2_halves, right_least, right_going);
      right_least = least_cost(lanes, least_of(right_going));
      if (works) {
        const int path = left_side ? 0 : 1;
        shared.store(a, path, lane, slot, right_going);
        if (lane == 0)
          shared.least[path * a.cell_slots + slot] = right_least;
      }
    }
    if (more)
      stage.put(a, next_row, other.features);
    __syncthreads();
  }

  if (!main || !inside)
    return;
  const auto save_state = [&](int path, std::uint32_t least_cost, std::uint32_t(&words)[kWords]) {
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      words[k] -= least_cost;
    store_bytes(words, a.to + state_at(path));
  };
  save_state(diagonal ? 1 : 0, least, straight);
  if constexpr (diagonal) {
    const SweepShared<kWords, Feature> last(a, kPaths, a.twice ? (a.rows - 1) & 1 : 0);
#pragma unroll
    for (int path = 0; path <= 2; path += 2) {
      std::uint32_t words[kWords];
      last.load(a, path / 2, lane, slot, words);
      save_state(path, last.least[path / 2 * a.cell_slots + slot], words);
    }
  }
}

}  // namespace cudavision::sgm
