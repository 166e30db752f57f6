// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the path costs of one pixel in the registers of some lanes of a warp.
//
// A word holds the costs of two disparities as 16-bit halves: word k of lane l holds disparities
// l·K + k and D/2 + l·K + k. The neighbours of both disparities are in the adjacent words, which
// may belong to other lanes. Sums are below 2^16, so halves never carry or borrow.

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct PathPlan {
  int words = 8;  ///< K, the words per lane
  int lanes = 8;  ///< D/2K, the lanes per pixel
  int units = 4;  ///< pixels that a warp processes at the same time
  int steps = 3;  ///< steps of a reduction over a pixel's lanes
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

/// The lanes before and after a lane. The lanes of a pixel form a circle.
struct NeighbouringLanes {
  int before, after;
  /// Selectors of __byte_perm. Outside the disparity range, the cost is 0xffff. The first disparity
  /// of the upper half follows the last disparity of the lower half.
  unsigned take_before, take_after;

  /// lane is the index in the circle. lane_before and lane_after are indices in the warp.
  __device__ void set(int lane, int lanes, int lane_before, int lane_after) {
    before = lane_before;
    after = lane_after;
    take_before = lane == 0 ? 0x1054 : 0x3210;
    take_after = lane == lanes - 1 ? 0x5432 : 0x3210;
  }

  __device__ std::uint32_t word_before(std::uint32_t last) const {
    return __byte_perm(__shfl_sync(whole_warp, last, before), 0xffffffffu, take_before);
  }
  __device__ std::uint32_t word_after(std::uint32_t first) const {
    return __byte_perm(__shfl_sync(whole_warp, first, after), 0xffffffffu, take_after);
  }
};

/// The thread's position in its warp. Neighbouring threads belong to neighbouring pixels.
template <int kSteps>
struct PathLanes : NeighbouringLanes {
  int lane;  ///< index of the lane in the pixel
  int unit;  ///< index of the pixel in the warp
  bool used;
  int ahead[kSteps];  ///< lanes 1, 2, 4… positions further in the circle

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

  __device__ std::uint32_t minimum(std::uint32_t word) const {
    // Some lanes are read twice, which does not change the minimum.
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      word = __vminu2(word, __shfl_sync(whole_warp, word, ahead[i]));
    return word;
  }
};

template <int kWords>
__device__ std::uint32_t min_of(const std::uint32_t (&words)[kWords]) {
  std::uint32_t minimum = words[0];
#pragma unroll
  for (int k = 1; k + 1 < kWords; k += 2)
    minimum = __vimin3_u16x2(minimum, words[k], words[k + 1]);
  return __vminu2(minimum, words[kWords - 1]);
}

/// minimum is the minimum of the lane's words. Returns the path's minimum in both halves.
template <int kSteps>
__device__ std::uint32_t min_cost(const PathLanes<kSteps>& lanes, std::uint32_t minimum) {
  minimum = lanes.minimum(minimum);
  return __vminu2(minimum, __byte_perm(minimum, 0, 0x1032));
}

/// Computes min_cost() for two paths, with as many shuffles as for one.
template <int kSteps>
__device__ void min_costs(const PathLanes<kSteps>& lanes, std::uint32_t& first,
                          std::uint32_t& second) {
  const std::uint32_t both = lanes.minimum(
      __vminu2(__byte_perm(first, second, 0x5410), __byte_perm(first, second, 0x7632)));
  first = __byte_perm(both, 0, 0x1010);
  second = __byte_perm(both, 0, 0x3232);
}

/// Takes one step of a path: L(d) = C + min(L'(d) − m, L'(d ± 1) − m + P1, P2). path holds L' and
/// receives L, and minimum is m. p1, p2 and minimum are in both halves.
template <int kWords, int kSteps>
__device__ void advance(const PathLanes<kSteps>& lanes, const std::uint32_t (&costs)[kWords],
                        std::uint32_t p1, std::uint32_t p2, std::uint32_t minimum,
                        std::uint32_t (&path)[kWords]) {
  const std::uint32_t limit = minimum + p2;
  std::uint32_t before = lanes.word_before(path[kWords - 1]);
  const std::uint32_t end = lanes.word_after(path[0]);
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    const std::uint32_t after = k + 1 < kWords ? path[k + 1] : end;
    const std::uint32_t reached = __vimin3_u16x2(__vminu2(before, after) + p1, path[k], limit);
    before = path[k];
    path[k] = reached + costs[k] - minimum;
  }
}

// Functions that store and load path costs as bytes: words 2i and 2i + 1 are packed into one word.

template <int kWords>
__device__ void store_bytes(const std::uint32_t (&path)[kWords], uint4* to) {
#pragma unroll
  for (int i = 0; i < kWords; i += 8)
    to[i / 8] = {__byte_perm(path[i], path[i + 1], 0x6420),
                 __byte_perm(path[i + 2], path[i + 3], 0x6420),
                 __byte_perm(path[i + 4], path[i + 5], 0x6420),
                 __byte_perm(path[i + 6], path[i + 7], 0x6420)};
}

template <int kVectors>
__device__ std::uint32_t word_of_bytes(const uint4 (&bytes)[kVectors], int k) {
  const uint4& vector = bytes[k / 8];
  const int i = k % 8 / 2;
  const std::uint32_t word = i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
  return __byte_perm(word, 0, k % 2 == 0 ? 0x4140 : 0x4342);
}

/// Puts a lane's costs into the order of the sums: first the lower halves of the words, then the
/// upper halves, whose disparities are larger by D/2.
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

/// Returns high << 16 | low. Uses the multiplier, because the logic units are busier.
__device__ inline std::uint32_t in_halves(std::uint32_t low, std::uint32_t high) {
#ifdef __CUDA_ARCH__
  std::uint32_t word;
  asm("mad.lo.u32 %0, %1, 65536, %2;" : "=r"(word) : "r"(high), "r"(low));
  return word;
#else
  return high << 16 | low;
#endif
}

/// Hides from the compiler how the value was computed, so that it cannot compute the value again.
template <class Number>
__device__ void make_opaque(Number& number) {
  static_assert(sizeof(Number) == 4);
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(number));
#endif
}

template <class T>
__device__ void make_opaque(T*& pointer) {
#ifdef __CUDA_ARCH__
  auto address = __cvta_generic_to_global(pointer);
  asm volatile("" : "+l"(address));
  pointer = static_cast<T*>(__cvta_global_to_generic(address));
#endif
}

/// Returns the right feature at column x. Outside the row, it is 0 or the outermost feature.
template <class Feature>
__device__ Feature right_feature_at(const Feature* row, int x, int width, bool replicates) {
  const int nearest = max(0, min(x, width - 1));
  return replicates || x == nearest ? row[nearest] : Feature{0};
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
