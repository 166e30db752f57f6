// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: path costs in the layout of path_lanes.cuh, with four words per lane.

#include <cuda_pipeline_primitives.h>

#include "cuda/sgm/paths16/path_lanes.cuh"

namespace cudavision::sgm {

constexpr int words_per_lane = 4;

/// Returns a·b + c. Uses the multiplier, because the other units are busier.
__device__ inline std::uint32_t multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
#ifdef __CUDA_ARCH__
  asm("mad.lo.u32 %0, %0, %1, %2;" : "+r"(a) : "r"(b), "r"(c));
  return a;
#else
  return a * b + c;
#endif
}

__device__ inline std::uint32_t costs_of(std::uint32_t left, std::uint32_t right,
                                         std::uint32_t right_further) {
  return multiply_add(__popc(left ^ right_further), 65536, __popc(left ^ right));
}

/// A barrier of both warps of a block. The warps may call it at different places in the code.
__device__ inline void wait_for_other_warp() {
#ifdef __CUDA_ARCH__
  asm volatile("barrier.sync 1, 64;" ::: "memory");
#endif
}

/// The thread's position in its warp: `lane` of the pixel `group`. Without kWhole, there are fewer
/// than kDisparities disparities: a multiple of 32 that is at least half of kDisparities.
template <int kDisparities, bool kWhole>
struct GroupLanes : NeighbouringLanes {
  static constexpr int lanes = kDisparities / (2 * words_per_lane);  // lanes per pixel
  static constexpr int groups = 32 / lanes;

  int lane, group;
  std::uint32_t not_first;    ///< all bits set, but 0 in group 0
  std::uint32_t missing = 0;  ///< mask of the upper halves whose disparities do not exist

  __device__ explicit GroupLanes(int disparities) {
    const int number = static_cast<int>(threadIdx.x % 32);
    lane = number % lanes;
    group = number / lanes;
    not_first = group > 0 ? 0xffffffffu : 0;
    set(lane, lanes, group * lanes + (lane + lanes - 1) % lanes,
        group * lanes + (lane + 1) % lanes);
    take_before_of[0] = lane == 0 ? 0x4055 : 0x4140;
    take_before_of[1] = lane == 0 ? 0x4255 : 0x4342;
    take_after_of[0] = lane == lanes - 1 ? 0x5541 : 0x4140;
    take_after_of[1] = lane == lanes - 1 ? 0x5543 : 0x4342;
    // Keeps the compiler from computing these variables again at every step.
    for (int i = 0; i < 2; ++i) {
      make_opaque(take_before_of[i]);
      make_opaque(take_after_of[i]);
    }
    make_opaque(before);
    make_opaque(after);
    make_opaque(take_before);
    make_opaque(take_after);
    make_opaque(not_first);
    if constexpr (!kWhole) {
      missing = kDisparities / 2 + words_per_lane * lane >= disparities ? 0xffff0000u : 0;
      make_opaque(missing);
    }
  }

  /// Returns a mask of the bytes of packed() whose disparities do not exist.
  __device__ std::uint32_t missing_bytes() const {
    return kWhole ? 0 : __byte_perm(missing, 0, 0x2020);
  }

  template <int kPixels>
  __device__ void look_around(const std::uint32_t (&words)[kPixels][words_per_lane],
                              std::uint32_t (&before)[kPixels],
                              std::uint32_t (&after)[kPixels]) const {
    if constexpr (kPixels == 1) {
      before[0] = word_before(words[0][words_per_lane - 1]);
      after[0] = word_after(words[0][0]);
    } else {
#pragma unroll
      for (int i = 0; i < kPixels; i += 2) {
        exchange(words[i][words_per_lane - 1], words[i + 1][words_per_lane - 1], this->before,
                 take_before_of, before + i);
        exchange(words[i][0], words[i + 1][0], this->after, take_after_of, after + i);
      }
    }
  }

  template <int kPixels>
  __device__ void reduce(std::uint32_t (&minimum)[kPixels]) const {
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      minimum[i] = __vminu2(minimum[i], __byte_perm(minimum[i], 0, 0x1032));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
      // The halves are equal now, so that the smallest word has the smallest half.
      if constexpr (groups == 1) {
        minimum[i] = __reduce_min_sync(whole_warp, minimum[i]);
      } else if constexpr (groups == 2) {
        const std::uint32_t first = __reduce_min_sync(whole_warp, minimum[i] | not_first);
        const std::uint32_t second = __reduce_min_sync(whole_warp, minimum[i] | ~not_first);
        minimum[i] = (first & ~not_first) | (second & not_first);
      } else
#endif
      {
#pragma unroll
        for (int apart = 1; apart < lanes; apart *= 2)
          minimum[i] = __vminu2(minimum[i], __shfl_xor_sync(whole_warp, minimum[i], apart));
      }
    }
  }

 private:
  /// Exchanges the words of two pixels as bytes, with one shuffle.
  static __device__ void exchange(std::uint32_t first, std::uint32_t second, int from,
                                  const unsigned (&take)[2], std::uint32_t* words) {
    const std::uint32_t got = __shfl_sync(whole_warp, __byte_perm(first, second, 0x6420), from);
    words[0] = __byte_perm(got, 0xff00, take[0]);
    words[1] = __byte_perm(got, 0xff00, take[1]);
  }

  unsigned take_before_of[2], take_after_of[2];
};

/// The state of a lane's paths at kPixels pixels: path costs plus P1, and the smallest path cost in
/// both halves. After a step with P2 = 0, such as a step from outside the picture, L = C.
template <int kPixels>
struct PathState {
  std::uint32_t costs[kPixels][words_per_lane];
  std::uint32_t minimum[kPixels];

  __device__ explicit PathState(std::uint32_t p1) {
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      minimum[i] = 0;
#pragma unroll
      for (int k = 0; k < words_per_lane; ++k)
        costs[i][k] = p1;
    }
  }
};

template <int kPixels>
struct PixelCosts {
  std::uint32_t costs[kPixels][words_per_lane];
  std::uint32_t p2[kPixels];
};

/// Packs the bytes of a lane: bytes 2k and 2k + 1 are the halves of word k.
__device__ inline uint2 packed(const std::uint32_t (&words)[words_per_lane]) {
  return {__byte_perm(words[0], words[1], 0x6420), __byte_perm(words[2], words[3], 0x6420)};
}

__device__ inline void unpack(const uint2& bytes, std::uint32_t (&words)[words_per_lane]) {
  words[0] = __byte_perm(bytes.x, 0, 0x4140);
  words[1] = __byte_perm(bytes.x, 0, 0x4342);
  words[2] = __byte_perm(bytes.y, 0, 0x4140);
  words[3] = __byte_perm(bytes.y, 0, 0x4342);
}

__device__ inline std::uint32_t min_of(const std::uint32_t (&words)[words_per_lane]) {
  return __vminu2(__vimin3_u16x2(words[0], words[1], words[2]), words[3]);
}

/// Takes one step of each path. Returns the bytes of L − C + P1 or, with kAddCosts, of
/// L + (factor − 1)·C + P1. Missing disparities get the cost 0xffff, as outside the range.
template <bool kAddCosts, int kDisparities, bool kWhole, int kPixels>
__device__ void advance(const GroupLanes<kDisparities, kWhole>& lanes, PathState<kPixels>& state,
                        std::uint32_t p1, const PixelCosts<kPixels>& pixels, int factor,
                        uint2 (&bytes)[kPixels]) {
  std::uint32_t minimum[kPixels], before[kPixels], after[kPixels];
  lanes.look_around(state.costs, before, after);
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    std::uint32_t(&path)[words_per_lane] = state.costs[i];
    // Path costs include P1. The addition below also adds P1 to the bound.
    const std::uint32_t bound = state.minimum[i] + pixels.p2[i];
    const std::uint32_t reached[words_per_lane] = {
        __viaddmin_u16x2(__vimin3_u16x2(before[i], path[1], bound), p1, path[0]),
        __viaddmin_u16x2(__vimin3_u16x2(path[0], path[2], bound), p1, path[1]),
        __viaddmin_u16x2(__vimin3_u16x2(path[1], path[3], bound), p1, path[2]),
        __viaddmin_u16x2(__vimin3_u16x2(path[2], after[i], bound), p1, path[3])};
    std::uint32_t sums[words_per_lane];
#pragma unroll
    for (int k = 0; k < words_per_lane; ++k) {
      path[k] = reached[k] + pixels.costs[i][k] - state.minimum[i];
      if constexpr (kAddCosts)
        sums[k] = multiply_add(pixels.costs[i][k], factor - 1, path[k]);
      path[k] |= lanes.missing;
    }
    if constexpr (kAddCosts) {
      bytes[i] = packed(sums);
    } else {
      bytes[i] = packed(reached);
      const std::uint32_t min_in_bytes = multiply_add(state.minimum[i], 257, 0);
      bytes[i].x -= min_in_bytes;
      bytes[i].y -= min_in_bytes;
    }
    minimum[i] = min_of(path);
  }
  lanes.reduce(minimum);
#pragma unroll
  for (int i = 0; i < kPixels; ++i)
    state.minimum[i] = minimum[i] - p1;
}

/// `states` has state_vectors() entries.
template <int kPixels>
__device__ void store_state(const PathState<kPixels>& state, uint2* states) {
  states += static_cast<std::int64_t>(blockIdx.x) * kPixels * 32 + threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kPixels; ++i)
    states[i * 32] = packed(state.costs[i]);
}

template <int kDisparities, bool kWhole, int kPixels>
__device__ void load_state(const GroupLanes<kDisparities, kWhole>& lanes, std::uint32_t p1,
                           const uint2* states, PathState<kPixels>& state) {
  states += static_cast<std::int64_t>(blockIdx.x) * kPixels * 32 + threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    unpack(states[i * 32], state.costs[i]);
#pragma unroll
    for (int k = 0; k < words_per_lane; ++k)
      state.costs[i][k] |= lanes.missing;
    state.minimum[i] = min_of(state.costs[i]);
  }
  lanes.reduce(state.minimum);
#pragma unroll
  for (int i = 0; i < kPixels; ++i)
    state.minimum[i] -= p1;
}

}  // namespace cudavision::sgm
