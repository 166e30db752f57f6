// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Path aggregation on CUDA: runs its parts in order, and makes P2 of all steps.

#include <algorithm>
#include <cstring>

#include "cuda/sgm/aggregate/cuda.h"
#include "cuda/sgm/samples.cuh"

namespace cudavision::sgm {

struct P2Arguments {
  Samples picture;
  int shift;  // from steps of the luminance to the table
  std::uint8_t table[256];
  std::uint32_t* p2[2];  // see P2Maps
  int blocks_per_row;
};

namespace {

constexpr int p2_threads = 256;

__global__ void __launch_bounds__(p2_threads) p2_kernel(const __grid_constant__ P2Arguments a) {
  __shared__ std::uint8_t table[256];
  launch_dependents();
  grid_dependency_wait();
  table[threadIdx.x] = a.table[threadIdx.x];
  __syncthreads();

  const int x = static_cast<int>(blockIdx.x % a.blocks_per_row) * p2_threads + threadIdx.x;
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  if (x >= a.picture.width)
    return;
  const int here = static_cast<int>(a.picture.at(x, y));
  // P2 has no effect where a path begins, so it may have any value for a step from beyond the edge.
  const auto p2 = [&](int dx, int dy) {
    const int step = here - static_cast<int>(a.picture.at_or_edge(x - dx, y - dy));
    return static_cast<std::uint32_t>(table[(step < 0 ? -step : step) >> a.shift]);
  };
  const std::int64_t pixel = static_cast<std::int64_t>(y) * a.picture.width + x;
  a.p2[0][pixel] = p2(1, 1) | p2(0, 1) << 8 | p2(-1, 1) << 16 | p2(1, 0) << 24;
  a.p2[1][pixel] = p2(1, -1) | p2(0, -1) << 8 | p2(-1, -1) << 16 | p2(-1, 0) << 24;
}

}  // namespace

AggregateCuda::AggregateCuda(Device& device, const StageConfig& config, void* scratch)
    : config_(config),
      p2_{static_cast<std::uint32_t*>(scratch),
          static_cast<std::uint32_t*>(scratch) + config.pixels()},
      launch_p2_(device.stream(), p2_kernel),
      states_(device.allocate(
          std::max(HorizontalPathsCuda::state_bytes(config), SweepsCuda::state_bytes(config)))),
      horizontal_(device, config, p2_, states_.data()),
      sweeps_(device, config, p2_, states_.data()) {}

void AggregateCuda::run(const SamplePlane& picture, const void* left, const void* right,
                        const Penalties& penalties, std::uint16_t* sums) const {
  make_p2(picture, penalties);
  const std::uint32_t p1 = static_cast<std::uint32_t>(penalties.p1) * 0x10001u;
  horizontal_.run(left, right, p1, sums);
  sweeps_.run(left, right, p1, sums);
}

void AggregateCuda::make_p2(const SamplePlane& picture, const Penalties& penalties) const {
  P2Arguments a;
  a.picture = Samples(picture);
  a.shift = picture.bits - 8;
  std::memcpy(a.table, penalties.p2.data(), sizeof a.table);
  a.p2[0] = p2_[0];
  a.p2[1] = p2_[1];
  a.blocks_per_row = (config_.width + p2_threads - 1) / p2_threads;
  launch_p2_(p2_kernel, static_cast<unsigned>(a.blocks_per_row) * config_.height, p2_threads, 0, a);
}

}  // namespace cudavision::sgm
