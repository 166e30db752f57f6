// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: numbers that save registers.

#include <cuda_runtime.h>

namespace cudavision::nlmeans {

/// Returns the number, or another value that equals it. Each call gives a value of its own to the
/// compiler, which then derives what it needs from it again, instead of keeping that in registers.
__device__ inline int renewed(int number) {
  asm volatile("" : "+r"(number));
  return number;
}
__device__ inline int thread_number() {
  return renewed(threadIdx.x);
}

}  // namespace cudavision::nlmeans
