// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the costs of a path along a row, spread over as many lanes of a warp as it takes.
//
// A path waits for itself at every pixel, so a row takes as many lanes as it can, of few words
// each: that is least to do between two pixels, and most warps. Words are those of pathlanes.cuh,
// but a path to the left counts its disparities from the largest one down. With that, what comes
// into sight from one pixel to the next belongs to the first disparity whichever way a path goes,
// and one piece of code serves both. Only what is written for others to read is turned around.

#include "cuda/sgm/aggregate/path_lanes.cuh"

namespace cudavision::sgm {

/// How the disparities of a row are spread over a warp.
struct HorizontalPlan {
  int words = 2;   ///< per lane: K
  int lanes = 32;  ///< per row: D/2K
  int units = 1;   ///< rows per warp: 1, 2 or 4
};

/// With 32 or 64 disparities there are several rows to a warp: with a single word per lane, what
/// does not depend on their number would be most of the work.
inline HorizontalPlan horizontal_plan(int disparities) {
  HorizontalPlan plan;
  while (disparities / (2 * plan.words) > 32)
    plan.words *= 2;
  plan.lanes = disparities / (2 * plan.words);
  plan.units = 32 / plan.lanes;
  return plan;
}

/// So many numbers that memory can move at once, or in vectors of 16 bytes.
template <class Number, int kCount>
struct alignas(sizeof(Number) * kCount < 16 ? sizeof(Number) * kCount : 16) Pack {
  Number at[kCount];
};

/// The place of the calling thread in its warp. Lanes that a row leaves over do the same as its
/// last one, the stores too: nobody has to ask whether it is at work.
template <int kUnits>
struct HorizontalLanes : NeighbouringLanes {
  static constexpr int threads = 32 / kUnits;  // of each row

  int unit;    ///< which of the warp's rows
  int thread;  ///< of the row's
  int lane;

  __device__ explicit HorizontalLanes(int lanes) {
    const int number = static_cast<int>(threadIdx.x);
    unit = number / threads;
    thread = number % threads;
    lane = thread < lanes ? thread : lanes - 1;
    set(lane, lanes, unit * threads + (lane == 0 ? lanes - 1 : lane - 1),
        unit * threads + (lane == lanes - 1 ? 0 : lane + 1));
  }

  /// The least cost of a path, in both halves, given the least of each lane.
  __device__ std::uint32_t least_cost(std::uint32_t least) const {
    // Where both halves are the same, words are in the order of the halves.
    least = __vminu2(least, __byte_perm(least, 0, 0x1032));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (kUnits == 1)
      return __reduce_min_sync(whole_warp, least);
    else
#endif
#pragma unroll
      for (int apart = 1; apart < threads; apart *= 2)
        least = min(least, __shfl_xor_sync(whole_warp, least, apart));
    return least;
  }
};

/// One pixel further, as advance() of pathlanes.cuh. bound: m + P2 − P1, which with P1 < P2 is none
/// that borrows.
template <int kWords, int kUnits>
__device__ void advance(const HorizontalLanes<kUnits>& lanes, const std::uint32_t (&costs)[kWords],
                        std::uint32_t p1, std::uint32_t bound, std::uint32_t least,
                        std::uint32_t (&path)[kWords]) {
  std::uint32_t before = lanes.word_before(path[kWords - 1]);
  const std::uint32_t end = lanes.word_after(path[0]);
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    const std::uint32_t after = k + 1 < kWords ? path[k + 1] : end;
    const std::uint32_t reached =
        __viaddmin_u16x2(__vimin3_u16x2(before, after, bound), p1, path[k]);
    before = path[k];
    path[k] = reached + costs[k] - least;
  }
}

/// How a lane's costs lie in memory, for paths of either direction. In the other direction words
/// follow each other the other way around and have their halves exchanged.
template <int kWords>
struct HorizontalOrder {
  using Bytes = Pack<std::uint32_t, kWords / 2>;
  using Sums = Bytes;  ///< a half of the lane's

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

  /// A word of bytes has a word from the front and its counterpart from the back, so that it is the
  /// same one in both directions.
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

  /// In the order of disparities: those of the lower half of them all, or of the upper half.
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
