// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Sums over the lanes of a warp or the threads of a block, all of which must take part.

#include <cuda_runtime.h>

#include <cstdint>

namespace cudavision {

/// Returns the sum over all lanes, in every lane.
template <class Sum>
__device__ inline Sum sum_of_warp(Sum sum) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  return sum;
}

/// Returns the sum over the kThreads threads of the block, in every thread.
template <int kThreads>
__device__ inline std::uint64_t sum_of_block(std::uint64_t sum) {
  __shared__ std::uint64_t of_warp[kThreads / 32];
  sum = sum_of_warp(sum);
  __syncthreads();  // the previous call may still be reading the shared sums
  if (threadIdx.x % 32 == 0)
    of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (const std::uint64_t one : of_warp)
    sum += one;
  return sum;
}

/// Returns the sum over the lanes up to and including the caller's lane.
template <class Sum>
__device__ inline Sum inclusive_scan(Sum sum) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const Sum below = __shfl_up_sync(~0u, sum, distance);
    if (lane >= distance)
      sum += below;
  }
  return sum;
}

/// Like inclusive_scan(), with fewer instructions for 32-bit sums: the shuffle's predicate reports
/// whether the source lane exists, which saves a comparison per step.
template <class Sum>
__device__ inline Sum scan_of_warp(Sum sum) {
  if constexpr (sizeof(Sum) == 8) {
    return inclusive_scan(sum);
  } else {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
      asm volatile(
          "{\n\t.reg .pred inside;\n\t.reg .b32 below;\n\t"
          "shfl.sync.up.b32 below|inside, %0, %1, 0, -1;\n\t"
          "@inside add.u32 %0, %0, below;\n\t}"
          : "+r"(sum)
          : "r"(distance));
    return sum;
  }
}

/// Scans two values. The two scans of 32-bit values overlap, which halves the time.
template <class Sum>
__device__ inline void scan_two_of_warp(Sum& first, Sum& second) {
  if constexpr (sizeof(Sum) == 8) {
    first = inclusive_scan(first);
    second = inclusive_scan(second);
  } else {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
      asm volatile(
          "{\n\t.reg .pred inside;\n\t.reg .b32 first, second;\n\t"
          "shfl.sync.up.b32 first|inside, %0, %2, 0, -1;\n\t"
          "shfl.sync.up.b32 second|inside, %1, %2, 0, -1;\n\t"
          "@inside add.u32 %0, %0, first;\n\t"
          "@inside add.u32 %1, %1, second;\n\t}"
          : "+r"(first), "+r"(second)
          : "r"(distance));
  }
}

}  // namespace cudavision
