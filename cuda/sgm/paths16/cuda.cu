// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Path aggregation with 16-bit sums: computes P2 of all steps, and launches the paths.

#include <algorithm>
#include <cstring>

#include "cuda/sgm/paths16/aggregate_cuda.h"
#include "cuda/sgm/samples.cuh"

namespace cudavision::sgm {

struct P2Arguments {
  Samples picture;
  int shift;       // from samples to the luminance of the steps
  int step_shift;  // from luminance steps to table indices
  std::uint8_t table[256];
  PathPenalty penalty;
  std::uint32_t* p2[2];  // see P2Maps
  int blocks_per_row;
};

namespace {

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
  // P2 has no effect where a path begins, so it is arbitrary for steps from outside the picture.
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

AggregateCuda::AggregateCuda(Device& device, LaunchQueue& queue, const StageConfig& config,
                             void* scratch, int band_rows)
    : config_(config),
      p2_{static_cast<std::uint32_t*>(scratch),
          static_cast<std::uint32_t*>(scratch) + config.pixels()},
      queue_(queue),
      states_(device.allocate(std::max(SweepsCuda::state_bytes(config, band_rows),
                                       SweepsCuda::scratch_begin(config, band_rows) +
                                           HorizontalPathsCuda::state_bytes(config, band_rows)))),
      sweeps_(device, queue, config, band_rows, states_.data()),
      horizontal_(queue, config,
                  states_.as<std::uint8_t>() + SweepsCuda::scratch_begin(config, band_rows)) {}

int AggregateCuda::row_unit(const StageConfig& config) {
  // Without diagonal paths, a launch of the sweeps takes any number of rows.
  return config.paths == 8 ? 2 * SweepPlan(config, true).strip_rows()
                           : horizontal_plan(config.disparities).units;
}

std::size_t AggregateCuda::extra_bytes(const StageConfig& config, int band_rows) {
  return static_cast<std::size_t>((config.height - 1) / band_rows) *
         SweepsCuda::border_bytes(config);
}

void AggregateCuda::begin(const SamplePlane& picture, const void* left, const void* right,
                          const Penalties& penalties, const NoiseSource& noise) const {
  const PathPenalty penalty(penalties, noise);
  make_p2(picture, penalties, penalty);
  sweeps_.begin(input(left, right, penalty));
}

void AggregateCuda::run(const void* left, const void* right, const PathPenalty& penalty,
                        const RowBand& band, std::uint16_t* sums) const {
  const PathInput all = input(left, right, penalty);
  horizontal_.run(all.from_row(config_, band.begin), band.rows(), sums);
  sweeps_.run(all, band, sums);
}

PathInput AggregateCuda::input(const void* left, const void* right,
                               const PathPenalty& penalty) const {
  return {left, right, p2_, penalty};
}

void AggregateCuda::make_p2(const SamplePlane& picture, const Penalties& penalties,
                            const PathPenalty& penalty) const {
  P2Arguments a;
  a.picture = Samples(picture);
  a.shift = config_.eight_bit() ? picture.bits - 8 : 0;
  a.step_shift = picture.bits - 8 - a.shift;
  std::memcpy(a.table, penalties.p2.data(), sizeof a.table);
  a.penalty = penalty;
  a.p2[0] = p2_[0];
  a.p2[1] = p2_[1];
  a.blocks_per_row = (config_.width + p2_threads - 1) / p2_threads;
  queue_.launch(p2_kernel, static_cast<unsigned>(a.blocks_per_row) * config_.height, p2_threads, 0,
                a);
}

}  // namespace cudavision::sgm
