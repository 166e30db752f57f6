// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The mask on CUDA. Most words are 0: a warp reads 32 words at once and skips zeros.

#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

constexpr int threads = 64;  // a word each

struct MaskArguments {
  View<const std::uint32_t> mask;
  std::uint16_t* map;
  int width;
  int blocks_per_row;
};

__global__ void __launch_bounds__(threads) mask_kernel(const __grid_constant__ MaskArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  const int lane = threadIdx.x % 32;
  const int first = static_cast<int>(blockIdx.x % a.blocks_per_row) * threads +
                    static_cast<int>(threadIdx.x) - lane;
  const std::uint32_t word = first + lane < a.mask.width ? a.mask.row(y)[first + lane] : 0;
  std::uint16_t* const row = a.map + static_cast<std::int64_t>(y) * a.width;
  for (unsigned marked = __ballot_sync(~0u, word != 0); marked != 0; marked &= marked - 1) {
    const int number = __ffs(marked) - 1;
    if (__shfl_sync(~0u, word, number) >> lane & 1)
      row[32 * (first + number) + lane] = unknown;
  }
}

}  // namespace

void apply_mask_cuda(LaunchQueue& queue, const StageConfig& config, View<const std::uint32_t> mask,
                     std::uint16_t* map) {
  MaskArguments a{mask, map, config.width, (mask.width + threads - 1) / threads};
  queue.launch(mask_kernel, static_cast<unsigned>(a.blocks_per_row) * config.height, threads, 0, a);
}

}  // namespace cudavision::sgm
