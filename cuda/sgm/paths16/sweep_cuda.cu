// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <utility>

#include "cuda/core/cuda_check.h"
#include "cuda/core/division.h"
#include "cuda/sgm/paths16/aggregate_cuda.h"
#include "cuda/sgm/paths16/sweep.cuh"

namespace cudavision::sgm {
namespace {

template <int kWords, int kSteps, bool kSums>
Kernel<SweepArguments> kernel_of(int feature_bytes, bool diagonal) {
  if (feature_bytes == 8)
    return diagonal ? sweep_kernel<kWords, kSteps, std::uint64_t, true, kSums>
                    : sweep_kernel<kWords, kSteps, std::uint64_t, false, kSums>;
  return diagonal ? sweep_kernel<kWords, kSteps, std::uint32_t, true, kSums>
                  : sweep_kernel<kWords, kSteps, std::uint32_t, false, kSums>;
}

template <bool kSums>
Kernel<SweepArguments> kernel_for(const PathPlan& plan, int feature_bytes, bool diagonal) {
  if (plan.words == 8)
    return plan.steps == 1   ? kernel_of<8, 1, kSums>(feature_bytes, diagonal)
           : plan.steps == 2 ? kernel_of<8, 2, kSums>(feature_bytes, diagonal)
                             : kernel_of<8, 3, kSums>(feature_bytes, diagonal);
  return plan.steps == 3   ? kernel_of<16, 3, kSums>(feature_bytes, diagonal)
         : plan.steps == 4 ? kernel_of<16, 4, kSums>(feature_bytes, diagonal)
                           : kernel_of<16, 5, kSums>(feature_bytes, diagonal);
}

/// Returns the bytes of one sweep's states at a border between rows.
std::size_t border_bytes(const StageConfig& config) {
  const std::size_t paths = config.paths == 8 ? 3 : 1;
  return paths * static_cast<std::size_t>(config.width) *
         static_cast<std::size_t>(config.disparities);
}

}  // namespace

// states_ has a slot of border_bytes() for each border of a band, including the picture's edges,
// from top to bottom. A slot first holds the upward state and, once the band above is done, the
// downward state. So the two sweeps of a band start from the slots above and below the band. Two
// scratch slots follow, which the horizontal paths also use.

AggregateCuda::AggregateCuda(Device& device, const StageResources& resources, int band_rows)
    : device_(device),
      resources_(resources),
      band_rows_(band_rows),
      bands_(divide_up(resources.config.height, band_rows)),
      states_(
          device.allocate(static_cast<std::size_t>(bands_ + 1) * border_bytes(resources.config) +
                          std::max(2 * border_bytes(resources.config),
                                   horizontal_state_bytes(resources.config, band_rows)))),
      plan_(resources.config, true) {
  if (bands_ > 1)
    upward_plan_.emplace(resources.config, false);
}

std::size_t AggregateCuda::extra_bytes(const StageConfig& config, int band_rows) {
  return static_cast<std::size_t>((config.height - 1) / band_rows) * border_bytes(config);
}

uint4* AggregateCuda::states_at(int border) const {
  return states_.as<uint4>() +
         static_cast<std::size_t>(border) * (border_bytes(resources_.config) / sizeof(uint4));
}

View<std::uint8_t> AggregateCuda::bytes_of(const uint4* states) const {
  const auto bytes = static_cast<int>(border_bytes(resources_.config));
  return {reinterpret_cast<std::uint8_t*>(const_cast<uint4*>(states)), bytes, 1, bytes};
}

void AggregateCuda::store_upward_states(const PathInput& input) const {
  if (bands_ == 1)
    return;
  const int height = resources_.config.height;
  resources_.queue.end_frame();  // fills and copies cannot be recorded
  // Path costs begin with 0 at the edges of the picture.
  for (const int edge : {0, bands_})
    device_.fill(bytes_of(states_at(edge)), 0);
  SweepArguments a = upward_plan_->arguments(input);
  a.height = height;
  int scratch_uses = 0;  // selects the two scratch slots alternately
  for (int border = bands_ - 1; border > 0; --border) {
    const int end = height - border * band_rows_;
    for (int from = std::max(0, end - band_rows_); from < end; from += a.rows) {
      a.begin = from;
      a.rows = std::min(upward_plan_->strip_rows(), end - from);
      const int slot = from + a.rows == end ? border : bands_ + 1 + scratch_uses++ % 2;
      // Sweep 1 writes to the slot after a.to; sweep 0, which would use a.to, does not run.
      a.to = states_at(slot - 1);
      upward_plan_->launch(resources_.queue, a, 1, 1);
      a.from = a.to;
    }
  }
}

void AggregateCuda::run_sweeps(const PathInput& input, const RowBand& band,
                               std::uint16_t* sums) const {
  const StageConfig& config = resources_.config;
  // With several bands, the arguments include one row above and one below the band, because each
  // sweep begins after a row whose path states are stored.
  const int done = bands_ > 1 ? 1 : 0;
  const int rows = band.rows(), half = rows / 2;
  const int number = band.begin / band_rows_;
  SweepArguments a = plan_.arguments(input.from_row(config, band.begin - done));
  a.sums = sums - static_cast<std::ptrdiff_t>(done) * config.width * config.disparities;
  a.height = rows + 2 * done;
  a.from = states_at(number);
  a.to = states_at(bands_ + 1);
  // Both sweeps advance at the same time, strip by strip, until they meet in the middle. In a
  // middle row, they run one after the other. Then each sweep continues in the other half.
  run_strips(a, done, done + half);
  if (rows % 2 != 0)
    run_strips(a, done + half, done + half + 1);
  run_strips(a, done + rows - half, done + rows);
  if (band.end < config.height)
    device_.copy(bytes_of(a.from), bytes_of(states_at(number + 1)));
}

void AggregateCuda::run_strips(SweepArguments& a, int begin, int end) const {
  const bool shared_row = end - begin == 1 && begin == a.height - 1 - begin;
  for (int from = begin; from < end; from += plan_.strip_rows()) {
    a.begin = from;
    a.rows = std::min(plan_.strip_rows(), end - from);
    if (shared_row) {
      plan_.launch(resources_.queue, a, 0, 1);
      plan_.launch(resources_.queue, a, 1, 1);
    } else {
      plan_.launch(resources_.queue, a, 0, 2);
    }
    a.from = std::exchange(a.to, const_cast<uint4*>(a.from));
  }
}

SweepPlan::SweepPlan(const StageConfig& config, bool with_sums)
    : config_(config),
      plan_(path_plan(config.disparities)),
      diagonal_(config.paths == 8),
      sweeps_(with_sums ? 2 : 1),
      kernel_(with_sums ? kernel_for<true>(plan_, config.feature_bytes(), diagonal_)
                        : kernel_for<false>(plan_, config.feature_bytes(), diagonal_)) {
  arguments_.width = config.width;
  arguments_.disparities = config.disparities;
  arguments_.minimum = config.minimum;
  arguments_.replicates = config.replicates_features();
  arguments_.lanes = plan_.lanes;
  arguments_.units = plan_.units;
  choose_tile();
}

SweepArguments SweepPlan::arguments(const PathInput& input) const {
  SweepArguments a = arguments_;
  a.left = input.left;
  a.right = input.right;
  std::copy(input.p2.begin(), input.p2.end(), a.p2);
  a.penalty = input.penalty;
  return a;
}

void SweepPlan::launch(LaunchQueue& queue, SweepArguments a, int first_sweep, int sweeps) const {
  a.first_sweep = first_sweep;
  queue.launch(kernel_, static_cast<unsigned>(sweeps * a.tiles), a.tile.threads(),
               (a.twice ? 2 : 1) * shared_bytes(), a);
}

std::size_t SweepPlan::shared_bytes() const {
  const bool wide = config_.feature_bytes() == 8;
  const auto size =
      plan_.words == 8
          ? (wide ? SweepShared<8, std::uint64_t>::size : SweepShared<8, std::uint32_t>::size)
          : (wide ? SweepShared<16, std::uint64_t>::size : SweepShared<16, std::uint32_t>::size);
  return sizeof(uint4) * static_cast<std::size_t>(size(arguments_, diagonal_));
}

void SweepPlan::choose_tile() {
  const int max_shared_bytes =
      device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory");
  const int multiprocessors = multiprocessor_count();
  const int max_warps = sweep_threads(plan_.words, config_.feature_bytes()) / 32;
  SweepTile best;
  double lowest = 0;
  for (int halo_warps = diagonal_ ? 1 : 0; halo_warps <= (diagonal_ ? 4 : 0); ++halo_warps)
    for (int main_warps = 1; main_warps + 2 * halo_warps <= max_warps; ++main_warps) {
      lay_out({main_warps, halo_warps, halo_warps * plan_.units, main_warps * plan_.units});
      const double clocks = clocks_per_row(multiprocessors);
      if (shared_bytes() <= static_cast<std::size_t>(max_shared_bytes) &&
          (lowest == 0 || clocks < lowest)) {
        lowest = clocks;
        best = arguments_.tile;
      }
    }
  lay_out(best);
  arguments_.twice = 2 * shared_bytes() <= static_cast<std::size_t>(max_shared_bytes);
  cuda_check(
      cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, max_shared_bytes),
      "setting up a kernel on the GPU");
}

void SweepPlan::lay_out(const SweepTile& tile) {
  SweepArguments& a = arguments_;
  a.tile = tile;
  a.tiles = divide_up(config_.width, tile.columns);
  // Puts vectors of neighbouring pixels and lanes into different banks of shared memory.
  const int apart = plan_.units >= 4 ? 4 : plan_.units == 2 ? 2 : 1;
  a.cell_slots = round_up(tile.slots() - apart, 8) + apart;
  const int vector = 16 / config_.feature_bytes();
  const int copy = (tile.slots() - 1 + config_.disparities + 2 * (vector - 1)) / vector;
  a.copy_length = (round_up(copy - 1, 8) + 1) * vector;
  strip_rows_ = tile.halo > 0 ? tile.halo : std::max(1, config_.height);
}

/// Estimates the clocks per row of the current tile on compute capability 9.0, for choose_tile().
double SweepPlan::clocks_per_row(int multiprocessors) const {
  // Clocks per row of a warp with eight words per lane, on one of four schedulers.
  constexpr double one_path = 220, three_paths = 400;
  constexpr double lowest = 700;  // limited by the latency of a row
  constexpr double launch = 4000;
  const SweepTile& tile = arguments_.tile;
  double halo_rows = 0;  // rows of a strip in which the halo's warps work, summed over the warps
  for (int warp = 0; warp < tile.halo_warps; ++warp)
    halo_rows += 2 * (tile.halo - 1 - warp * plan_.units);
  const double work =
      (diagonal_ ? three_paths : one_path) * tile.main_warps + one_path * halo_rows / strip_rows_;
  const int rounds = divide_up(sweeps_ * arguments_.tiles, multiprocessors);
  return rounds * std::max(lowest, work * plan_.words / 8 / 4) + launch / strip_rows_;
}

}  // namespace cudavision::sgm
