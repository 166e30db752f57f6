// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend. A thread converts pixels whose distance is the number of threads of a block, so
// that the threads of a warp convert neighbours at the same time.

#include "cuda/core/cuda_launch.h"
#include "cuda/repack/conversion.h"

namespace cudavision::repack {
namespace {

constexpr int block_threads = 128, thread_pixels = 4, block_pixels = block_threads * thread_pixels;

template <class From, class To>
__global__ void __launch_bounds__(block_threads)
    convert_kernel(const __grid_constant__ Conversion a) {
  const int blocks = divide_up(a.width, block_pixels), block = static_cast<int>(blockIdx.x);
  const int x = block % blocks * block_pixels + static_cast<int>(threadIdx.x);
  convert<From, To, thread_pixels, block_threads>(a, x, block / blocks,
                                                  divide_up(a.width - x, block_threads));
}

}  // namespace

void convert_cuda(Device& device, const Conversion& a) {
  const int blocks = divide_up(a.width, block_pixels) * a.height;
  // Without overlap with the launch before it, so that the kernel need not wait for that.
  with_words(a, [&](auto from, auto to) {
    const auto kernel = convert_kernel<decltype(from), decltype(to)>;
    launch_kernel(
        device.stream(),
        {reinterpret_cast<const void*>(kernel), static_cast<unsigned>(blocks), block_threads}, &a);
  });
}

}  // namespace cudavision::repack
