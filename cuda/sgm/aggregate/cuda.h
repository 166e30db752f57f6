// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the kernels that follow the paths, each sort compiled by itself.

#include "cuda/sgm/aggregate/horizontal.cuh"
#include "cuda/sgm/aggregate/sweep.cuh"

namespace cudavision::sgm {

using HorizontalKernel = Launcher<HorizontalArguments>::Kernel;
using SweepKernel = Launcher<SweepArguments>::Kernel;

/// second: from the middle of the rows on.
HorizontalKernel horizontal_kernel_for(const HorizontalPlan& plan, int feature_bytes, bool second);
SweepKernel sweep_kernel_for(const PathPlan& plan, int feature_bytes, bool diagonal);

/// Calls make(words, steps) with the plan's numbers as constants.
template <class Make>
auto with_constants(const PathPlan& plan, const Make& make) {
  using std::integral_constant;
  constexpr integral_constant<int, 8> eight{};
  constexpr integral_constant<int, 16> sixteen{};
  if (plan.words == 8)
    switch (plan.steps) {
      case 1:
        return make(eight, integral_constant<int, 1>{});
      case 2:
        return make(eight, integral_constant<int, 2>{});
      default:
        return make(eight, integral_constant<int, 3>{});
    }
  switch (plan.steps) {
    case 3:
      return make(sixteen, integral_constant<int, 3>{});
    case 4:
      return make(sixteen, integral_constant<int, 4>{});
    default:
      return make(sixteen, integral_constant<int, 5>{});
  }
}

}  // namespace cudavision::sgm
