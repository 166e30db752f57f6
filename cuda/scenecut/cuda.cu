// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Area means on CUDA: one block per area, one warp per row. The last block compares the means.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/warp.cuh"
#include "cuda/pixels/sample_math.h"
#include "cuda/scenecut/arithmetic.h"
#include "cuda/scenecut/backend.h"
#include "cuda/sync/interblock.cuh"

namespace cudavision::scenecut {
namespace {

constexpr int warp = 32, threads = 256, warps = threads / warp;
static_assert(threads >= max_areas, "each thread of the last block compares an area");

struct State {
  std::uint32_t sums[max_areas];
  std::uint32_t means[max_areas];  ///< means of the previous frame
  std::uint32_t finished;          ///< number of finished blocks; 0 between frames
  std::uint32_t change;
};

struct AreaArguments {
  const std::uint8_t* samples;  ///< first sample
  int pitch, step;              ///< in bytes
  int bits, shift;
  Parts columns, rows;
  State* state;
};

__device__ std::uint32_t sample_at(const AreaArguments& a, int x, int y) {
  const std::uint8_t* const at =
      a.samples + static_cast<std::int64_t>(y) * a.pitch + static_cast<std::int64_t>(x) * a.step;
  if (a.bits == 8)
    return __ldg(at);
  // Samples of two bytes may be at odd addresses.
  return sample_value(__ldg(at) | static_cast<std::uint32_t>(__ldg(at + 1)) << 8, a.shift,
                      (1u << a.bits) - 1);
}

/// Sums two values over the block at once. Both sums must be below 2^32.
template <class Pair>
__device__ Pair pair_of_block(std::uint32_t first, std::uint32_t second) {
  const std::uint64_t sums =
      sum_of_block<threads>(static_cast<std::uint64_t>(first) << 32 | second);
  return {static_cast<std::uint32_t>(sums >> 32), static_cast<std::uint32_t>(sums)};
}

__global__ void __launch_bounds__(threads) compare_areas(const __grid_constant__ AreaArguments a) {
  __shared__ bool is_last;
  grid_dependency_wait();
  launch_dependents();
  const int thread = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) / a.columns.count;
  const int column = static_cast<int>(blockIdx.x) % a.columns.count;
  const int first = a.rows.begin(row), rows = a.rows.size_of(row);
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < max_area_rows / warps; ++i) {
    const int number = i * warps + thread / warp;
    if (number >= sampled_rows(rows))
      break;
    const int y = sampled_row(number, first, rows);
#pragma unroll 4
    for (int x = a.columns.begin(column) + thread % warp; x < a.columns.begin(column + 1);
         x += warp)
      sum += sample_at(a, x, y);
  }
  sum = static_cast<std::uint32_t>(sum_of_block<threads>(sum));
  if (thread == 0) {
    a.state->sums[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(&a.state->finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last)
    return;
  __threadfence();
  const int areas = static_cast<int>(gridDim.x);
  AreaPair mean;
  if (thread < areas) {
    const int samples = a.columns.size_of(thread % a.columns.count) *
                        sampled_rows(a.rows.size_of(thread / a.columns.count));
    mean.now = mean_of(__ldcg(&a.state->sums[thread]), samples, a.bits);
    mean.before = a.state->means[thread];
    a.state->means[thread] = mean.now;
  }
  const auto sums = pair_of_block<AreaPair>(mean.now, mean.before);
  Comparison own;
  if (thread < areas)
    own = compared(mean, sums, areas);
  const auto all = pair_of_block<Comparison>(own.difference, own.structure);
  if (thread == 0) {
    a.state->change = change_of(all, areas);
    a.state->finished = 0;
  }
}

class AreaMeansCuda final : public AreaMeans::Backend {
 public:
  AreaMeansCuda(Device& device, const FrameLayout& layout)
      : channel_(layout.channels[layout.find(sampled_role(layout))]),
        first_sample_(channel_.offset * layout.sample_bytes()),
        state_(zeroed_words(device, sizeof(State) / sizeof(std::uint32_t))),
        launch_(device.stream(), compare_areas) {
    arguments_.step = channel_.step * layout.sample_bytes();
    arguments_.bits = layout.bits;
    arguments_.shift = layout.shift;
    arguments_.columns = Parts(channel_.width);
    arguments_.rows = Parts(channel_.height);
    arguments_.state = state_.as<State>();
  }

  void run(const ConstFrame& in) override {
    const View<const std::uint8_t>& plane = in.planes[channel_.plane];
    arguments_.samples = plane.data + first_sample_;
    arguments_.pitch = kernel_pitch("scene cut detection", plane.pitch);
    launch_(compare_areas, static_cast<unsigned>(arguments_.columns.count * arguments_.rows.count),
            threads, 0, arguments_);
  }

  const std::uint32_t* change() const noexcept override { return &state_.as<State>()->change; }

 private:
  const Channel channel_;
  const int first_sample_;  ///< in bytes
  Buffer state_;
  AreaArguments arguments_{};
  Launcher<AreaArguments> launch_;
};

}  // namespace

std::unique_ptr<AreaMeans::Backend> make_area_means_cuda(Device& device,
                                                         const FrameLayout& layout) {
  return std::make_unique<AreaMeansCuda>(device, layout);
}

}  // namespace cudavision::scenecut
