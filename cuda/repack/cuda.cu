// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/core/cuda_launch.h"
#include "cuda/repack/conversion.h"

namespace cudavision::repack {
namespace {

constexpr int block_threads = 128, thread_pixels = 4;

template <class From, class To>
__global__ void __launch_bounds__(block_threads)
    convert_kernel(const __grid_constant__ Conversion a) {
  const unsigned y = quotient(blockIdx.x, a.row_blocks);
  const unsigned block = blockIdx.x - y * a.row_blocks.divisor;
  const int x = thread_pixels * static_cast<int>(block * block_threads + threadIdx.x);
  if (x < a.width)
    convert<From, To, thread_pixels>(a, x, static_cast<int>(y), a.width - x);
}

}  // namespace

void convert_cuda(Device& device, Conversion a) {
  const int blocks = divide_up(a.width, block_threads * thread_pixels);
  a.row_blocks = make_division(static_cast<unsigned>(blocks));
  // This launch does not overlap the previous one, so the kernel needs no grid_dependency_wait().
  with_words(a, [&](auto from, auto to) {
    const auto kernel = convert_kernel<decltype(from), decltype(to)>;
    launch_kernel(device.stream(),
                  {reinterpret_cast<const void*>(kernel), static_cast<unsigned>(blocks * a.height),
                   block_threads},
                  &a);
  });
}

}  // namespace cudavision::repack
