// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: a sorted list of the numbers of a tile of a map.

#include <cuda_fp16.h>

#include "cuda/core/warp.cuh"
#include "cuda/sgm/backend.h"
#include "cuda/sgm/halfpairs.cuh"

namespace cudavision::sgm {

/// The bits of the float 1.
constexpr std::uint32_t one = bits_of_integer(1);

/// The numbers that occur in a tile, in ascending order. It lies in shared memory. All threads of
/// the block call its functions.
template <int kThreads>
struct NumberList {
  static constexpr int warps = kThreads / 32;
  static constexpr int words = 16 * 1024 / 32;  ///< bits for all numbers of 1024 disparities
  /// 16-bit floats represent all integers up to this.
  static constexpr int max_numbers = 2048;
  static constexpr unsigned whole_warp = 0xffffffffu;

  std::uint32_t bits[words];   ///< one for each number that occurs
  std::uint16_t ranks[words];  ///< of the first number of each word
  std::uint16_t numbers[max_numbers];
  int warp_counts[warps];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < words; i += kThreads)
      bits[i + threadIdx.x] = 0;
    __syncthreads();
  }

  /// Notes two numbers.
  __device__ void note(std::uint32_t pair) {
    // Neighbours often have the same number, and one of them is enough.
    const std::uint32_t beside = __shfl_up_sync(whole_warp, pair, 1);
    const std::uint32_t different = threadIdx.x % 32 == 0 ? ~0u : pair ^ beside;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t number = pair >> 16 * half & 0xffff;
      if (number != unknown && (different >> 16 * half & 0xffff) != 0)
        atomicOr(bits + number / 32, 1u << number % 32);
    }
  }

  /// Computes the ranks after all numbers have been noted. Returns the first step of a bisection of
  /// the list: a power of two, twice which is more than all ranks, or ½.
  __device__ __half2 find_ranks() {
    constexpr int own_words = words / kThreads;
    static_assert(words % kThreads == 0);
    __syncthreads();
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    int counts[own_words], count = 0;
#pragma unroll
    for (int i = 0; i < own_words; ++i) {
      counts[i] = __popc(bits[own_words * thread + i]);
      count += counts[i];
    }
    const int up_to_here = inclusive_scan(count);
    if (thread % 32 == 31)
      warp_counts[warp] = up_to_here;
    __syncthreads();
    int before = up_to_here - count, all = 0;
#pragma unroll
    for (int i = 0; i < warps; ++i) {
      before += i < warp ? warp_counts[i] : 0;
      all += warp_counts[i];
    }
#pragma unroll
    for (int i = 0; i < own_words; ++i) {
      ranks[own_words * thread + i] = static_cast<std::uint16_t>(before);
      before += counts[i];
    }
    __syncthreads();
    const int steps = all > 1 ? 32 - __clz(all - 1) : 0;
    return twice(one + ((steps - 1) << 10));
  }

  /// Makes the list, after the ranks.
  __device__ void list() {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    // Neighbouring words go to different warps, because few neighbours have all the numbers.
#pragma unroll 1
    for (int first = warp; first < words; first += 32 * warps) {
      const std::uint32_t own = bits[first + lane * warps];
#pragma unroll 1
      for (unsigned left = __ballot_sync(whole_warp, own != 0); left != 0; left &= left - 1) {
        // A lane for each number of a word.
        const int source = __ffs(static_cast<int>(left)) - 1, word = first + source * warps;
        const std::uint32_t set = __shfl_sync(whole_warp, own, source);
        if (set >> lane & 1)
          numbers[ranks[word] + __popc(set & ~(~0u << lane))] =
              static_cast<std::uint16_t>(32 * word + lane);
      }
    }
  }

  /// Returns the rank of a number that has been noted, or anything for an unknown one.
  __device__ int rank_of(std::uint32_t number) const {
    const std::uint32_t word = number / 32 % words;
    return ranks[word] + __popc(bits[word] & ~(~0u << number % 32));
  }
};

}  // namespace cudavision::sgm
