// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Semi-Global Matching on CUDA: the kernels from row to row.

#include "sgm/aggregate_cuda.h"

namespace cudavision::sgm {

SweepKernel sweep_kernel_for(const PathPlan& plan, int feature_bytes, int paths) {
  return with_constants(plan, [=](auto words, auto steps) -> SweepKernel {
    if (feature_bytes == 8)
      return paths == 3 ? sweep_kernel<words, steps, std::uint64_t, 3>
                        : sweep_kernel<words, steps, std::uint64_t, 1>;
    return paths == 3 ? sweep_kernel<words, steps, std::uint32_t, 3>
                      : sweep_kernel<words, steps, std::uint32_t, 1>;
  });
}

}  // namespace cudavision::sgm
