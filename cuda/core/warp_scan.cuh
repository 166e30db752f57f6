// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: what inclusive_scan() returns, in fewer instructions. A shuffle tells whether it
// had a lane to read, which saves the comparison of each step.

#include <cstdint>

#include "cuda/core/warp.cuh"

namespace cudavision {

/// The sum of the values of the lanes up to and including this one.
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

/// Replaces two values by such sums. One after the other, both would take twice as long.
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
