// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the costs of a horizontal path, spread over the lanes of a warp. A row uses many
// lanes, because the steps of a path depend on each other. Words have the layout of
// path_lanes.cuh, but leftward paths count disparities from the largest down. The new feature at
// the next pixel then belongs to the first disparity in both directions.

#include "cuda/sgm/paths16/path_lanes.cuh"

namespace cudavision::sgm {

struct HorizontalPlan {
  int words = 2;   ///< K, the words per lane
  int lanes = 32;  ///< D/2K, the lanes per row
  int units = 1;   ///< rows per warp: 1, 2 or 4
};

/// With 32 or 64 disparities, a warp has several rows, as one word per lane would be inefficient.
inline HorizontalPlan horizontal_plan(int disparities) {
  HorizontalPlan plan;
  while (disparities / (2 * plan.words) > 32)
    plan.words *= 2;
  plan.lanes = disparities / (2 * plan.words);
  plan.units = 32 / plan.lanes;
  return plan;
}

/// An array of kCount numbers, aligned for accesses of up to 16 bytes.
template <class Number, int kCount>
struct alignas(sizeof(Number) * kCount < 16 ? sizeof(Number) * kCount : 16) Pack {
  Number at[kCount];
};

/// The thread's position in its warp. Surplus lanes of a row do the same work as its last lane.
template <int kUnits>
struct HorizontalLanes : NeighbouringLanes {
  static constexpr int threads = 32 / kUnits;  // threads per row

  int unit;    ///< index of the row in the warp
  int thread;  ///< index of the thread in the row
  int lane;

  __device__ explicit HorizontalLanes(int lanes) {
    const int number = static_cast<int>(threadIdx.x);
    unit = number / threads;
    thread = number % threads;
    lane = thread < lanes ? thread : lanes - 1;
    set(lane, lanes, unit * threads + (lane == 0 ? lanes - 1 : lane - 1),
        unit * threads + (lane == lanes - 1 ? 0 : lane + 1));
  }

  /// minimum is the minimum of the lane's words. Returns the path's minimum in both halves.
  __device__ std::uint32_t min_cost(std::uint32_t minimum) const {
    // The halves are equal now, so that the smallest word has the smallest half.
    minimum = __vminu2(minimum, __byte_perm(minimum, 0, 0x1032));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (kUnits == 1)
      return __reduce_min_sync(whole_warp, minimum);
    else
#endif
#pragma unroll
      for (int apart = 1; apart < threads; apart *= 2)
        minimum = min(minimum, __shfl_xor_sync(whole_warp, minimum, apart));
    return minimum;
  }
};

/// Takes a step like advance() in path_lanes.cuh. bound is m + P2 − P1 in both halves (P1 < P2).
template <int kWords, int kUnits>
__device__ void advance(const HorizontalLanes<kUnits>& lanes, const std::uint32_t (&costs)[kWords],
                        std::uint32_t p1, std::uint32_t bound, std::uint32_t minimum,
                        std::uint32_t (&path)[kWords]) {
  std::uint32_t before = lanes.word_before(path[kWords - 1]);
  const std::uint32_t end = lanes.word_after(path[0]);
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    const std::uint32_t after = k + 1 < kWords ? path[k + 1] : end;
    const std::uint32_t reached =
        __viaddmin_u16x2(__vimin3_u16x2(before, after, bound), p1, path[k]);
    before = path[k];
    path[k] = reached + costs[k] - minimum;
  }
}

/// Memory order of a lane's costs. Leftward paths reverse the words and exchange their halves.
template <int kWords>
struct HorizontalOrder {
  using Bytes = Pack<std::uint32_t, kWords / 2>;
  using Sums = Bytes;  ///< half of the lane's sums

  bool forward;
  unsigned to_bytes, front, back;  // selectors of __byte_perm
  unsigned to_low, to_high;

  __device__ explicit HorizontalOrder(bool to_the_right)
      : forward(to_the_right),
        to_bytes(forward ? 0x6420 : 0x0246),
        front(forward ? 0x4140 : 0x4243),
        back(forward ? 0x4342 : 0x4041),
        to_low(forward ? 0x5410 : 0x3276),
        to_high(forward ? 0x7632 : 0x1054) {}

  /// Packs costs into bytes. A packed word combines a word from the front with its counterpart from
  /// the back, so that the result is the same in both directions.
  __device__ Bytes bytes(const std::uint32_t (&words)[kWords]) const {
    Bytes bytes;
#pragma unroll
    for (int i = 0; i < kWords / 2; ++i)
      bytes.at[i] = __byte_perm(words[i], words[kWords - 1 - i], to_bytes);
    return bytes;
  }
  __device__ std::uint32_t word(const Bytes& bytes, int k) const {
    return k < kWords / 2 ? __byte_perm(bytes.at[k], 0, front)
                          : __byte_perm(bytes.at[kWords - 1 - k], 0, back);
  }

  /// Returns the lane's sums of the lower or upper half of the disparities, in ascending order.
  __device__ Sums sums(const std::uint32_t (&words)[kWords], bool upper) const {
    Sums sums;
#pragma unroll
    for (int i = 0; i < kWords / 2; ++i) {
      const int j = kWords / 2 - 1 - i;
      const unsigned take = upper ? to_high : to_low;
      const std::uint32_t ascending = __byte_perm(words[2 * i], words[2 * i + 1], take);
      const std::uint32_t descending = __byte_perm(words[2 * j], words[2 * j + 1], take);
      sums.at[i] = forward ? ascending : descending;
    }
    return sums;
  }
};

}  // namespace cudavision::sgm
