// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/core/division.h"
#include "cuda/sgm/paths16/aggregate_cuda.h"
#include "cuda/sgm/samples.cuh"

namespace cudavision::sgm {
namespace {

struct P2Arguments {
  Samples picture;
  int shift;       // right shift from samples to the luminance of the steps
  int step_shift;  // right shift from luminance steps to table indices
  std::uint8_t table[256];
  PathPenalty penalty;
  std::uint32_t* p2[2];  // see P2Maps
  int blocks_per_row;
};

constexpr int p2_threads = 256;

__global__ void __launch_bounds__(p2_threads) p2_kernel(const __grid_constant__ P2Arguments a) {
  __shared__ std::uint8_t table[256];
  launch_dependents();
  grid_dependency_wait();
  table[threadIdx.x] = a.penalty.raised(a.table[threadIdx.x]);
  __syncthreads();

  const int x = static_cast<int>(blockIdx.x % a.blocks_per_row) * p2_threads + threadIdx.x;
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  if (x >= a.picture.width)
    return;
  const int here = static_cast<int>(a.picture.at(x, y) >> a.shift);
  // P2 has no effect on steps from outside the picture.
  const auto p2 = [&](int dx, int dy) {
    const int step = here - static_cast<int>(a.picture.at_or_edge(x - dx, y - dy) >> a.shift);
    return static_cast<std::uint32_t>(table[(step < 0 ? -step : step) >> a.step_shift]);
  };
  const std::int64_t pixel = static_cast<std::int64_t>(y) * a.picture.width + x;
  a.p2[0][pixel] = p2(1, 1) | p2(0, 1) << 8 | p2(-1, 1) << 16 | p2(1, 0) << 24;
  a.p2[1][pixel] = p2(1, -1) | p2(0, -1) << 8 | p2(-1, -1) << 16 | p2(-1, 0) << 24;
}

}  // namespace

PathInput PathInput::from_row(const StageConfig& config, int row) const {
  const std::ptrdiff_t pixels = static_cast<std::ptrdiff_t>(row) * config.width;
  const auto features = [&](const void* map) {
    return static_cast<const std::uint8_t*>(map) + pixels * config.feature_bytes();
  };
  return {features(left), features(right), {p2[0] + pixels, p2[1] + pixels}, penalty};
}

int AggregateCuda::row_unit(const StageConfig& config) {
  // Without diagonal paths, a launch of the sweeps takes any number of rows.
  return config.paths == 8 ? 2 * SweepPlan(config, true).strip_rows()
                           : horizontal_plan(config.disparities).units;
}

PathInput AggregateCuda::begin(const SamplePlane& picture, const void* left, const void* right,
                               const Penalties& penalties, const NoiseSource& noise) const {
  auto* const p2 = static_cast<std::uint32_t*>(resources_.scratch);
  const PathInput input{left, right, {p2, p2 + resources_.config.pixels()}, {penalties, noise}};
  P2Arguments a;
  a.picture = Samples(picture);
  a.shift = resources_.config.eight_bit() ? picture.bits - 8 : 0;
  a.step_shift = picture.bits - 8 - a.shift;
  std::copy(penalties.p2.begin(), penalties.p2.end(), a.table);
  a.penalty = input.penalty;
  std::copy(input.p2.begin(), input.p2.end(), a.p2);
  a.blocks_per_row = divide_up(picture.width, p2_threads);
  resources_.queue.launch(p2_kernel, static_cast<unsigned>(a.blocks_per_row) * picture.height(),
                          p2_threads, 0, a);
  store_upward_states(input);
  return input;
}

void AggregateCuda::run(const PathInput& input, const RowBand& band, std::uint16_t* sums) const {
  follow_horizontal_paths(resources_, input.from_row(resources_.config, band.begin), band.rows(),
                          states_at(bands_ + 1), sums);
  run_sweeps(input, band, sums);
}

}  // namespace cudavision::sgm
