// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of Points. A thread computes a point. Points are collected in shared memory, so
// that a block writes contiguous memory.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/points/backend.h"

namespace cudavision::sgm {
namespace {

constexpr int threads = 256;

struct PointsArguments {
  const std::uint8_t* map;
  std::int64_t map_pitch;
  std::uint8_t* out;
  std::int64_t out_pitch;
  int width;
  int blocks_per_row;
  PointNumbers numbers;
};

template <bool kAligned>
__global__ void __launch_bounds__(threads)
    points_kernel(const __grid_constant__ PointsArguments a) {
  __shared__ std::uint32_t words[3 * threads];
  launch_dependents();
  grid_dependency_wait();
  const int first = static_cast<int>(blockIdx.x % a.blocks_per_row) * threads;
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  const int x = first + threadIdx.x;
  if (x < a.width) {
    const std::uint8_t* const from = a.map + a.map_pitch * y + 2 * static_cast<std::int64_t>(x);
    float xyz[3];
    const bool known =
        a.numbers.point(x, y, static_cast<std::uint16_t>(from[0] | from[1] << 8), xyz);
    for (int i = 0; i < 3; ++i)
      words[3 * threadIdx.x + i] = known ? __float_as_uint(xyz[i]) : unknown_coordinate;
  }
  __syncthreads();
  const int count = 3 * min(threads, a.width - first);
  std::uint8_t* const out =
      a.out + a.out_pitch * y + Points::bytes_per_point * static_cast<std::int64_t>(first);
  for (int i = threadIdx.x; i < count; i += threads)
    if constexpr (kAligned)
      reinterpret_cast<std::uint32_t*>(out)[i] = words[i];
    else
      for (int byte = 0; byte < 4; ++byte)
        out[4 * i + byte] = static_cast<std::uint8_t>(words[i] >> 8 * byte);
}

class PointsCuda final : public Points::Backend {
 public:
  PointsCuda(Device& device, int width) : launch_(device.stream(), points_kernel<true>) {
    a_.width = width;
    a_.blocks_per_row = (width + threads - 1) / threads;
  }

  void set(const PointNumbers& numbers) override { a_.numbers = numbers; }

  void run(View<const std::uint8_t> disparity, View<std::uint8_t> points) override {
    PointsArguments a = a_;
    a.map = disparity.data;
    a.map_pitch = disparity.pitch;
    a.out = points.data;
    a.out_pitch = points.pitch;
    const bool aligned = (reinterpret_cast<std::uintptr_t>(points.data) | points.pitch) % 4 == 0;
    launch_(aligned ? points_kernel<true> : points_kernel<false>,
            static_cast<unsigned>(a.blocks_per_row) * disparity.height, threads, 0, a);
  }

 private:
  PointsArguments a_{};
  Launcher<PointsArguments> launch_;
};

}  // namespace

std::unique_ptr<Points::Backend> make_points_cuda(Device& device, int width) {
  return std::make_unique<PointsCuda>(device, width);
}

}  // namespace cudavision::sgm
