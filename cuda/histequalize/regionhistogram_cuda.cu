// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/cuda_launch.h"
#include "cuda/histequalize/backend.h"

namespace cudavision::histequalize {
namespace {

constexpr int threads = 512, blocks = 512;
constexpr int max_shared_bins = 1 << 12;

/// Each block counts some rows, in shared memory if kShared. The caller has cleared all bins.
/// With a minimum of 2 blocks, ptxas spills no registers for 8.0.
template <bool kShared>
__global__ void __launch_bounds__(threads, 2)
    count_kernel(const __grid_constant__ MaskedSamples a) {
  __shared__ std::uint32_t shared_bins[kShared ? max_shared_bins : 1];
  const int thread = static_cast<int>(threadIdx.x), bins = kShared ? 1 << a.plane.bits : 0;
  std::uint32_t* const counts = kShared ? shared_bins : a.bins;
  for (int bin = thread; bin < bins; bin += threads)
    shared_bins[bin] = 0;
  __syncthreads();
  for (int y = static_cast<int>(blockIdx.x); y < a.mask.height; y += blocks)
    for (int x = thread; x < a.mask.width; x += threads)
      if (a.mask.row(y)[x] != 0)
        atomicAdd(counts + a.value(x, y), 1u);
  __syncthreads();
  for (int bin = thread; bin < bins; bin += threads)
    if (shared_bins[bin] != 0)
      atomicAdd(a.bins + bin, shared_bins[bin]);
}

}  // namespace

void count_masked_cuda(Device& device, const MaskedSamples& a) {
  const int bytes = static_cast<int>(sizeof(std::uint32_t)) << a.plane.bits;
  device.fill({reinterpret_cast<std::uint8_t*>(a.bins), bytes, 1, bytes}, 0);
  const auto kernel =
      1 << a.plane.bits <= max_shared_bins ? count_kernel<true> : count_kernel<false>;
  launch_kernel(device.stream(), {reinterpret_cast<const void*>(kernel), blocks, threads}, &a);
}

}  // namespace cudavision::histequalize
