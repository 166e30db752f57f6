// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Semi-Global Matching on CUDA: the kernels from row to row.

#include "cuda/sgm/aggregate/cuda.h"

namespace cudavision::sgm {

SweepKernel sweep_kernel_for(const PathPlan& plan, int feature_bytes, bool diagonal) {
  return with_constants(plan, [=](auto words, auto steps) -> SweepKernel {
    if (feature_bytes == 8)
      return diagonal ? sweep_kernel<words, steps, std::uint64_t, true>
                      : sweep_kernel<words, steps, std::uint64_t, false>;
    return diagonal ? sweep_kernel<words, steps, std::uint32_t, true>
                    : sweep_kernel<words, steps, std::uint32_t, false>;
  });
}

}  // namespace cudavision::sgm
