// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/integral/arithmetic.h"
#include "cuda/integral/backend.h"

namespace cudavision::integral {
namespace {

constexpr int threads = 256;

struct PictureArguments {
  View<const std::uint64_t> table;
  std::uint8_t* out;
  std::int64_t out_pitch;
  unsigned long long* largest;  // largest entry of the table
};

/// Entries never decrease from row to row, so the last row contains the largest.
__global__ void find_largest_kernel(const __grid_constant__ PictureArguments a) {
  __shared__ unsigned long long largest;
  launch_dependents();
  grid_dependency_wait();
  if (threadIdx.x == 0)
    largest = 0;
  __syncthreads();
  const std::uint64_t* row = a.table.row(a.table.height - 1);
  unsigned long long own = 0;
  for (int x = threadIdx.x; x < a.table.width; x += blockDim.x)
    own = max(own, static_cast<unsigned long long>(row[x]));
  atomicMax(&largest, own);
  __syncthreads();
  if (threadIdx.x == 0)
    *a.largest = largest;
}

template <class Sample>
__global__ void draw_table_kernel(const __grid_constant__ PictureArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const TableScale scale(*a.largest);
  constexpr std::uint32_t white = sizeof(Sample) == 1 ? 0xff : 0xffff;
  for (int y = blockIdx.x; y < a.table.height; y += gridDim.x)
    for (int x = threadIdx.x; x < a.table.width; x += blockDim.x) {
      const std::uint32_t level = scale.level(a.table.row(y)[x], white);
      std::uint8_t* to = a.out + a.out_pitch * y + sizeof(Sample) * x;
      // Samples of two bytes may be at odd addresses.
      to[0] = static_cast<std::uint8_t>(level);
      if constexpr (sizeof(Sample) == 2)
        to[1] = static_cast<std::uint8_t>(level >> 8);
    }
}

class IntegralPictureCuda final : public IntegralPicture::Backend {
 public:
  IntegralPictureCuda(Device& device, int bits)
      : largest_(device.allocate(sizeof(unsigned long long))),
        draw_(bits == 8 ? draw_table_kernel<std::uint8_t> : draw_table_kernel<std::uint16_t>),
        launch_(device.stream(), draw_),
        blocks_(8 * multiprocessor_count()) {}

  void run(View<const std::uint64_t> table, View<std::uint8_t> out) override {
    const PictureArguments a{table, out.data, out.pitch, largest_.as<unsigned long long>()};
    launch_(find_largest_kernel, 1, threads, 0, a);
    launch_(draw_, std::min(blocks_, table.height), threads, 0, a);
  }

 private:
  Buffer largest_;
  Launcher<PictureArguments>::Kernel draw_;
  Launcher<PictureArguments> launch_;
  int blocks_;
};

}  // namespace

std::unique_ptr<IntegralPicture::Backend> make_integral_picture_cuda(Device& device, int bits) {
  return std::make_unique<IntegralPictureCuda>(device, bits);
}

}  // namespace cudavision::integral
