// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// inclusive_scan() in fewer instructions: a shuffle reports whether it had a lane to read, which
// saves the comparison in each step.

#include <cstdint>

#include "cuda/core/warp.cuh"

namespace cudavision {

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

/// Scans two values at once, in half the time of two scans.
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
