// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Semi-Global Matching on CUDA: the kernels along rows.

#include "cuda/sgm/aggregate/cuda.h"

namespace cudavision::sgm {
namespace {

template <int kWords, int kUnits>
HorizontalKernel kernel_for(int feature_bytes, bool second) {
  if (feature_bytes == 8)
    return second ? horizontal_kernel<kWords, kUnits, std::uint64_t, true>
                  : horizontal_kernel<kWords, kUnits, std::uint64_t, false>;
  return second ? horizontal_kernel<kWords, kUnits, std::uint32_t, true>
                : horizontal_kernel<kWords, kUnits, std::uint32_t, false>;
}

}  // namespace

HorizontalKernel horizontal_kernel_for(const HorizontalPlan& plan, int feature_bytes, bool second) {
  switch (plan.words) {
    case 2:
      return plan.units == 4   ? kernel_for<2, 4>(feature_bytes, second)
             : plan.units == 2 ? kernel_for<2, 2>(feature_bytes, second)
                               : kernel_for<2, 1>(feature_bytes, second);
    case 4:
      return kernel_for<4, 1>(feature_bytes, second);
    case 8:
      return kernel_for<8, 1>(feature_bytes, second);
    default:
      return kernel_for<16, 1>(feature_bytes, second);
  }
}

}  // namespace cudavision::sgm
