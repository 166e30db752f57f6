// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Sums over the lanes of a warp, all of which must take part.

#include <cuda_runtime.h>

#include <cstdint>

namespace cudavision {

/// Sum over all lanes, in every lane.
template <class Sum>
__device__ inline Sum sum_of_warp(Sum sum) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  return sum;
}

/// Sum over the lanes up to and including this one.
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

}  // namespace cudavision
