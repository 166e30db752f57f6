// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/core/division.h"
#include "cuda/sgm/paths16/aggregate_cuda.h"
#include "cuda/sgm/paths16/horizontal.cuh"

namespace cudavision::sgm {
namespace {

template <int kWords, int kUnits>
Kernel<HorizontalArguments> kernel_of(int feature_bytes, bool second) {
  if (feature_bytes == 8)
    return second ? horizontal_kernel<kWords, kUnits, std::uint64_t, true>
                  : horizontal_kernel<kWords, kUnits, std::uint64_t, false>;
  return second ? horizontal_kernel<kWords, kUnits, std::uint32_t, true>
                : horizontal_kernel<kWords, kUnits, std::uint32_t, false>;
}

Kernel<HorizontalArguments> kernel_for(const HorizontalPlan& plan, int feature_bytes, bool second) {
  switch (plan.words) {
    case 2:
      return plan.units == 4   ? kernel_of<2, 4>(feature_bytes, second)
             : plan.units == 2 ? kernel_of<2, 2>(feature_bytes, second)
                               : kernel_of<2, 1>(feature_bytes, second);
    case 4:
      return kernel_of<4, 1>(feature_bytes, second);
    case 8:
      return kernel_of<8, 1>(feature_bytes, second);
    default:
      return kernel_of<16, 1>(feature_bytes, second);
  }
}

}  // namespace

std::size_t horizontal_state_bytes(const StageConfig& config, int rows) {
  return 2 * static_cast<std::size_t>(rows) * static_cast<std::size_t>(config.disparities);
}

void follow_horizontal_paths(const StageResources& resources, const PathInput& input, int rows,
                             void* states, std::uint16_t* sums) {
  const StageConfig& config = resources.config;
  const HorizontalPlan plan = horizontal_plan(config.disparities);
  HorizontalArguments a{};
  a.left = input.left;
  a.right = input.right;
  std::copy(input.p2.begin(), input.p2.end(), a.p2);
  a.sums = sums;
  a.states = static_cast<uint4*>(states);
  a.width = config.width;
  a.height = rows;
  a.disparities = config.disparities;
  a.minimum = config.minimum;
  a.replicates = config.replicates_features();
  a.penalty = input.penalty;
  a.lanes = plan.lanes;
  const int feature_bytes = config.feature_bytes();
  const int row_bytes = horizontal_row_bytes(config.disparities, feature_bytes);
  for (const bool second : {false, true})
    resources.queue.launch(kernel_for(plan, feature_bytes, second),
                           2u * divide_up(rows, plan.units), horizontal_threads,
                           static_cast<std::size_t>(plan.units * row_bytes), a);
}

}  // namespace cudavision::sgm
