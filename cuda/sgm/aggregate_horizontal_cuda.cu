// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Semi-Global Matching on CUDA: the kernels along rows.

#include "sgm/aggregate_cuda.h"

namespace cudavision::sgm {

HorizontalKernel horizontal_kernel_for(const PathPlan& plan, int feature_bytes, bool second) {
  return with_constants(plan, [=](auto words, auto steps) -> HorizontalKernel {
    if (feature_bytes == 8)
      return second ? horizontal_kernel<words, steps, std::uint64_t, true>
                    : horizontal_kernel<words, steps, std::uint64_t, false>;
    return second ? horizontal_kernel<words, steps, std::uint32_t, true>
                  : horizontal_kernel<words, steps, std::uint32_t, false>;
  });
}

}  // namespace cudavision::sgm
