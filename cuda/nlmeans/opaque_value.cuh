// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime.h>

namespace cudavision::nlmeans {

/// Makes the compiler recompute values that depend on number instead of keeping them in registers.
__device__ inline int opaque_value(int number) {
  asm volatile("" : "+r"(number));
  return number;
}
__device__ inline int thread_number() {
  return opaque_value(threadIdx.x);
}

}  // namespace cudavision::nlmeans
