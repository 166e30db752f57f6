// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the tile of a block of a sweep, and its layout in shared memory.

#include "cuda/sgm/path_penalty.cuh"
#include "cuda/sgm/paths16/path_lanes.cuh"

namespace cudavision::sgm {

/// A block's columns and warps. Slots are column indices from the start of the halo on.
struct SweepTile {
  int main_warps = 8;  ///< warps for the columns of the tile
  int halo_warps = 2;  ///< warps for the halo on each side; 0 without diagonal paths
  int halo = 8;        ///< halo columns on each side; if not 0, also the maximum rows of a launch
  int columns = 32;    ///< columns of the tile

  CUDAVISION_HOST_DEVICE int slots() const { return columns + 2 * halo; }
  CUDAVISION_HOST_DEVICE int threads() const { return 32 * (main_warps + 2 * halo_warps); }
};

struct SweepArguments {
  const void* left;  // features
  const void* right;
  const std::uint32_t* p2[2];  // see P2Maps; for the downward and for the upward sweep
  std::uint16_t* sums;
  // States: [sweep][path][column][lane], as bytes minus the smallest cost. Not read if begin is 0.
  const uint4* from;
  uint4* to;
  int width, height, disparities, minimum;
  bool replicates;  // see StageConfig::replicates_features()
  PathPenalty penalty;
  int lanes, units;
  SweepTile tile;
  int tiles;        // tiles per sweep
  int first_sweep;  // first sweep of this launch
  int begin, rows;  // the strip, counted in the direction of the sweep
  int copy_length;  // features per copy, a multiple of a vector's features
  int cell_slots;   // slots allocated per row; at least tile.slots()
  bool twice;       // shared memory holds two rows: one barrier per row instead of two
};

/// The layout of a row's data in shared memory. It begins with the right picture's features from
/// right to left, in several copies. Each copy is shifted by one more feature, so that every window
/// begins at a whole vector of one copy. With 8 paths, the costs of two diagonal paths follow, as
/// vectors with the indices [path][vector][lane][slot], and then their smallest costs.
template <int kWords, class Feature>
struct SweepShared {
  static constexpr int copies = 16 / sizeof(Feature);
  static constexpr int path_vectors = kWords / 4;

  /// All sizes and positions are in vectors.
  CUDAVISION_HOST_DEVICE static int cells_begin(const SweepArguments& a) { return a.copy_length; }
  CUDAVISION_HOST_DEVICE static int cells(const SweepArguments& a) {
    return path_vectors * a.lanes * a.cell_slots;  // vectors per path
  }
  CUDAVISION_HOST_DEVICE static int min_begin(const SweepArguments& a) {
    return cells_begin(a) + 2 * cells(a);
  }
  CUDAVISION_HOST_DEVICE static int size(const SweepArguments& a, bool diagonal) {
    return diagonal ? min_begin(a) + (2 * a.cell_slots + 3) / 4 : cells_begin(a);
  }

  __device__ static int window(const SweepArguments& a, int lane, int slot) {
    // Feature i is i columns left of the feature that the last slot compares at disparity 0.
    const int first = a.tile.slots() - 1 - slot;
    const int copy = -first & (copies - 1);
    return (copy * a.copy_length + first + copy + lane * kWords) / copies;
  }
  __device__ static int cell(const SweepArguments& a, int path, int lane, int slot) {
    return cells_begin(a) + path * cells(a) + lane * a.cell_slots + slot;
  }
};

template <int kWords>
__device__ void load_words(const uint4* from, int stride, std::uint32_t (&words)[kWords]) {
#pragma unroll
  for (int i = 0; i < kWords / 4; ++i) {
    const uint4 vector = from[i * stride];
    words[4 * i] = vector.x;
    words[4 * i + 1] = vector.y;
    words[4 * i + 2] = vector.z;
    words[4 * i + 3] = vector.w;
  }
}

template <int kWords>
__device__ void store_words(const std::uint32_t (&words)[kWords], uint4* to, int stride) {
#pragma unroll
  for (int i = 0; i < kWords / 4; ++i)
    to[i * stride] = {words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]};
}

__device__ inline void split(const uint4& vector, std::uint32_t (&to)[4]) {
  to[0] = vector.x;
  to[1] = vector.y;
  to[2] = vector.z;
  to[3] = vector.w;
}
__device__ inline void split(const uint4& vector, std::uint64_t (&to)[2]) {
  to[0] = vector.x | static_cast<std::uint64_t>(vector.y) << 32;
  to[1] = vector.z | static_cast<std::uint64_t>(vector.w) << 32;
}

/// window points to the features of the lower halves. The features of the upper halves are `higher`
/// vectors further. A mask of 0 makes all costs 0.
template <int kWords, class Feature>
__device__ void matching_costs(const uint4* window, int higher, Feature left, std::uint32_t mask,
                               std::uint32_t (&costs)[kWords]) {
  constexpr int copies = 16 / sizeof(Feature);
#pragma unroll
  for (int i = 0; i < kWords / copies; ++i) {
    Feature low[copies], high[copies];
    split(window[i], low);
    split(window[higher + i], high);
#pragma unroll
    for (int c = 0; c < copies; ++c)
      costs[i * copies + c] =
          in_halves(differing_bits(left, low[c], mask), differing_bits(left, high[c], mask));
  }
}

/// Stages the features of the next row. At the beginning of a row, load() fetches kCarried features
/// into registers. At its end, put() stores them in shared memory, and copies the other features.
template <class Feature, int kCarried>
class FeatureStage {
 public:
  __device__ FeatureStage(const SweepArguments& a, int first_x, std::int64_t row)
      : width_(a.width),
        replicates_(a.replicates),
        copy_length_(a.copy_length),
        left_over_(a.tile.slots() - 1 + a.disparities - static_cast<int>(threadIdx.x)),
        x_(first_x + a.tile.slots() - 1 - a.minimum - static_cast<int>(threadIdx.x)),
        right_(static_cast<const Feature*>(a.right) + row) {}

  __device__ void load(int step) {
    right_ += step;
#pragma unroll
    for (int i = 0; i < kCarried; ++i)
      values_[i] = feature(i * static_cast<int>(blockDim.x));
  }
  __device__ void put(uint4* shared) const {
    auto* const to = reinterpret_cast<Feature*>(shared) + threadIdx.x;
    const int step = static_cast<int>(blockDim.x);
#pragma unroll
    for (int i = 0; i < kCarried; ++i)
      if (i * step < left_over_)
        put(values_[i], to + i * step);
    for (int number = kCarried * step; number < left_over_; number += step)
      put(feature(number), to + number);
  }

 private:
  static constexpr int copies = 16 / sizeof(Feature);

  __device__ Feature feature(int number) const {
    return right_feature_at(right_, x_ - number, width_, replicates_);
  }
  __device__ void put(Feature value, Feature* to) const {
#pragma unroll
    for (int c = 0; c < copies; ++c)
      to[c * (copy_length_ + 1)] = value;
  }

  int width_;
  bool replicates_;
  int copy_length_;
  int left_over_;  // remaining features, from this thread's first feature on
  int x_;          // column of this thread's first feature
  const Feature* right_;
  Feature values_[kCarried > 0 ? kCarried : 1]{};
};

template <int kWords>
struct SweepSums {
  static constexpr int vectors = kWords / 8;
  uint4 low[vectors], high[vectors];

  __device__ void load(const uint4* from, int higher) {
#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      low[i] = from[i];
      high[i] = from[higher + i];
    }
  }
  __device__ void add_and_store(const std::uint32_t (&costs)[kWords], uint4* to, int higher) const {
    uint4 more[2 * vectors];
    in_order(costs, more);
#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      to[i] = sum(low[i], more[i]);
      to[higher + i] = sum(high[i], more[vectors + i]);
    }
  }

 private:
  __device__ static uint4 sum(const uint4& a, const uint4& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
  }
};

}  // namespace cudavision::sgm
