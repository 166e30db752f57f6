// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the costs of paths of one pixel, in the registers of some lanes of a warp.
//
// A word holds the costs of two disparities as halves of 16 bits: word k of lane l has those of l·K
// + k and, half of all disparities further, of D/2 + l·K + k. So the neighbours of a word's
// disparities are in one word too: the one before and the one behind it; only those at the ends of
// a lane come from other lanes. Costs of paths are at most 255 and all sums of the recurrence less
// than 2^16: halves never borrow from each other, and plain 32-bit sums serve both.

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

constexpr unsigned whole_warp = 0xffffffffu;

/// How the disparities of a pixel are spread over a warp.
struct PathPlan {
  int words = 8;  ///< per lane: K
  int lanes = 8;  ///< per pixel: D/2K
  int units = 4;  ///< pixels per warp at the same time
  int steps = 3;  ///< halvings of a pixel's lanes until one is left
};

inline PathPlan path_plan(int disparities) {
  PathPlan plan;
  plan.words = disparities <= 128 ? 8 : 16;
  plan.lanes = disparities / (2 * plan.words);
  plan.units = 32 / plan.lanes;
  plan.steps = 0;
  while ((1 << plan.steps) < plan.lanes)
    ++plan.steps;
  return plan;
}

/// The lanes before and behind the calling thread's, in the circle of those that share a pixel.
struct NeighbouringLanes {
  int before, after;
  unsigned take_before;  ///< selectors of __byte_perm: beyond the ends there is no disparity, and
  unsigned take_after;   ///< from the lower half's end it goes on in the upper half

  /// lane: the calling thread's of `lanes`.
  __device__ void set(int lane, int lanes, int lane_before, int lane_after) {
    before = lane_before;
    after = lane_after;
    take_before = lane == 0 ? 0x1054 : 0x3210;
    take_after = lane == lanes - 1 ? 0x5432 : 0x3210;
  }

  /// The word before this lane's first, given the last one of each lane.
  __device__ std::uint32_t word_before(std::uint32_t last) const {
    return __byte_perm(__shfl_sync(whole_warp, last, before), 0xffffffffu, take_before);
  }
  /// The word behind this lane's last, given the first one of each lane.
  __device__ std::uint32_t word_after(std::uint32_t first) const {
    return __byte_perm(__shfl_sync(whole_warp, first, after), 0xffffffffu, take_after);
  }
};

/// The place of the calling thread in its warp. Lanes of one pixel lie as many lanes apart as there
/// are pixels, so that neighbouring pixels are neighbours in each vector of memory.
template <int kSteps>
struct PathLanes : NeighbouringLanes {
  int lane;  ///< of the pixel's
  int unit;  ///< which pixel of the warp's
  bool used;
  int ahead[kSteps];  ///< 1, 2, 4… lanes further in the circle

  __device__ PathLanes(int lanes, int units) {
    const int number = threadIdx.x % 32;
    lane = number / units;
    unit = number - lane * units;
    used = lane < lanes;
    int at = lane;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      at = lane + (1 << i);
      at = at >= lanes ? at - lanes : at;
      ahead[i] = used ? at * units + unit : number;
    }
    const int place_before = (lane == 0 ? lanes - 1 : lane - 1) * units + unit;
    set(lane, lanes, used ? place_before : number, ahead[0]);
  }

  /// The least of the pixel's lanes, for both halves by themselves.
  __device__ std::uint32_t least(std::uint32_t word) const {
    // What is met twice in the circle does no harm.
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      word = __vminu2(word, __shfl_sync(whole_warp, word, ahead[i]));
    return word;
  }
};

/// The least of a lane's words, for both halves by themselves.
template <int kWords>
__device__ std::uint32_t least_of(const std::uint32_t (&words)[kWords]) {
  std::uint32_t least = words[0];
#pragma unroll
  for (int k = 1; k + 1 < kWords; k += 2)
    least = __vimin3_u16x2(least, words[k], words[k + 1]);
  return __vminu2(least, words[kWords - 1]);
}

/// The least cost of a path, in both halves.
template <int kSteps>
__device__ std::uint32_t least_cost(const PathLanes<kSteps>& lanes, std::uint32_t least) {
  least = lanes.least(least);
  return __vminu2(least, __byte_perm(least, 0, 0x1032));
}

/// Those of two paths, for the shuffles of one.
template <int kSteps>
__device__ void least_costs(const PathLanes<kSteps>& lanes, std::uint32_t& first,
                            std::uint32_t& second) {
  const std::uint32_t both =
      lanes.least(__vminu2(__byte_perm(first, second, 0x5410), __byte_perm(first, second, 0x7632)));
  first = __byte_perm(both, 0, 0x1010);
  second = __byte_perm(both, 0, 0x3232);
}

/// One pixel further: L(d) = C + min(L'(d) − m, L'(d ± 1) − m + P1, P2). path: L' before, L after.
/// least: m; p1, p2: in both halves as well.
template <int kWords, int kSteps>
__device__ void advance(const PathLanes<kSteps>& lanes, const std::uint32_t (&costs)[kWords],
                        std::uint32_t p1, std::uint32_t p2, std::uint32_t least,
                        std::uint32_t (&path)[kWords]) {
  const std::uint32_t limit = least + p2;
  std::uint32_t before = lanes.word_before(path[kWords - 1]);
  const std::uint32_t end = lanes.word_after(path[0]);
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    const std::uint32_t after = k + 1 < kWords ? path[k + 1] : end;
    const std::uint32_t reached = __vimin3_u16x2(__vminu2(before, after) + p1, path[k], limit);
    before = path[k];
    path[k] = reached + costs[k] - least;
  }
}

/// A byte of word, in both halves. take: 0x4040 and 0x0101 for each byte before it.
__device__ inline std::uint32_t byte_in_halves(std::uint32_t word, unsigned take) {
  return __byte_perm(word, 0, take);
}

// Costs of paths as bytes: words 2i and 2i + 1 make one word.

template <int kWords>
__device__ void store_bytes(const std::uint32_t (&path)[kWords], uint4* to) {
#pragma unroll
  for (int i = 0; i < kWords; i += 8)
    to[i / 8] = {__byte_perm(path[i], path[i + 1], 0x6420),
                 __byte_perm(path[i + 2], path[i + 3], 0x6420),
                 __byte_perm(path[i + 4], path[i + 5], 0x6420),
                 __byte_perm(path[i + 6], path[i + 7], 0x6420)};
}

/// Word k of those that store_bytes() has made vectors of.
template <int kVectors>
__device__ std::uint32_t word_of_bytes(const uint4 (&bytes)[kVectors], int k) {
  const uint4& vector = bytes[k / 8];
  const int i = k % 8 / 2;
  const std::uint32_t word = i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
  return __byte_perm(word, 0, k % 2 == 0 ? 0x4140 : 0x4342);
}

/// The costs of a pixel's disparities in their own order, as a volume has them: the first half of
/// the vectors is what the words' lower halves hold, D/2 before the other half.
template <int kWords>
__device__ void in_order(const std::uint32_t (&words)[kWords], uint4 (&vectors)[kWords / 4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int i = 0; i < kWords; i += 8) {
      const unsigned take = half == 0 ? 0x5410 : 0x7632;
      vectors[half * (kWords / 8) + i / 8] = {__byte_perm(words[i], words[i + 1], take),
                                              __byte_perm(words[i + 2], words[i + 3], take),
                                              __byte_perm(words[i + 4], words[i + 5], take),
                                              __byte_perm(words[i + 6], words[i + 7], take)};
    }
}

/// By the multiplier: the units of logic have more to do.
__device__ inline std::uint32_t in_halves(std::uint32_t low, std::uint32_t high) {
#ifdef __CUDA_ARCH__
  std::uint32_t word;
  asm("mad.lo.u32 %0, %1, 65536, %2;" : "=r"(word) : "r"(high), "r"(low));
  return word;
#else
  return high << 16 | low;
#endif
}

/// Makes the compiler forget where a number comes from, and with that what else it could do instead
/// of using it.
template <class Number>
__device__ void forget_origin(Number& number) {
  static_assert(sizeof(Number) == 4);
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(number));
#endif
}

__device__ inline std::uint32_t differing_bits(std::uint32_t left, std::uint32_t right,
                                               std::uint32_t mask) {
  return __popc((left ^ right) & mask);
}
__device__ inline std::uint32_t differing_bits(std::uint64_t left, std::uint64_t right,
                                               std::uint32_t mask) {
  return __popc((static_cast<std::uint32_t>(left) ^ static_cast<std::uint32_t>(right)) & mask) +
         __popc((static_cast<std::uint32_t>(left >> 32) ^ static_cast<std::uint32_t>(right >> 32)) &
                mask);
}

}  // namespace cudavision::sgm
