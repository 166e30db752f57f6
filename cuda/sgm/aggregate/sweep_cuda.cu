// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Path aggregation on CUDA: launches the sweeps, and cuts the picture into tiles for them.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/sgm/aggregate/cuda.h"
#include "cuda/sgm/aggregate/sweep.cuh"

namespace cudavision::sgm {
namespace {

using Kernel = Launcher<SweepArguments>::Kernel;

template <int kWords, int kSteps>
Kernel kernel_of(int feature_bytes, bool diagonal) {
  if (feature_bytes == 8)
    return diagonal ? sweep_kernel<kWords, kSteps, std::uint64_t, true>
                    : sweep_kernel<kWords, kSteps, std::uint64_t, false>;
  return diagonal ? sweep_kernel<kWords, kSteps, std::uint32_t, true>
                  : sweep_kernel<kWords, kSteps, std::uint32_t, false>;
}

Kernel kernel_for(const PathPlan& plan, int feature_bytes, bool diagonal) {
  if (plan.words == 8)
    return plan.steps == 1   ? kernel_of<8, 1>(feature_bytes, diagonal)
           : plan.steps == 2 ? kernel_of<8, 2>(feature_bytes, diagonal)
                             : kernel_of<8, 3>(feature_bytes, diagonal);
  return plan.steps == 3   ? kernel_of<16, 3>(feature_bytes, diagonal)
         : plan.steps == 4 ? kernel_of<16, 4>(feature_bytes, diagonal)
                           : kernel_of<16, 5>(feature_bytes, diagonal);
}

int rounded_up(int value, int step) {
  return (value + step - 1) / step * step;
}

/// Returns the bytes of the states of both sweeps in one row. There are two such rows.
std::size_t row_state_bytes(const StageConfig& config) {
  const std::size_t paths = config.paths == 8 ? 3 : 1;
  return 2 * paths * static_cast<std::size_t>(config.width) *
         static_cast<std::size_t>(config.disparities);
}

}  // namespace

SweepsCuda::SweepsCuda(Device& device, const StageConfig& config, const P2Maps& p2, void* states)
    : config_(config),
      plan_(path_plan(config.disparities)),
      diagonal_(config.paths == 8),
      kernel_(kernel_for(plan_, config.feature_bytes(), diagonal_)),
      launch_(device.stream(), kernel_) {
  arguments_.width = config.width;
  arguments_.height = config.height;
  arguments_.disparities = config.disparities;
  arguments_.minimum = config.minimum;
  arguments_.lanes = plan_.lanes;
  arguments_.units = plan_.units;
  arguments_.p2[0] = p2[0];
  arguments_.p2[1] = p2[1];
  arguments_.from = static_cast<uint4*>(states);
  arguments_.to = static_cast<uint4*>(states) + row_state_bytes(config) / sizeof(uint4);
  choose_tile();
}

std::size_t SweepsCuda::state_bytes(const StageConfig& config) {
  return 2 * row_state_bytes(config);
}

void SweepsCuda::run(const void* left, const void* right, std::uint32_t p1,
                     std::uint16_t* sums) const {
  SweepArguments a = arguments_;
  a.left = left;
  a.right = right;
  a.sums = sums;
  a.p1 = p1;
  // Both sweeps advance at the same time, strip by strip, until they meet in the middle. In a
  // middle row, one sweep works after the other. Then each goes on where the other has been.
  const int height = config_.height;
  const int half = height / 2;
  strips(a, 0, half);
  if (height % 2 != 0)
    strips(a, half, half + 1);
  strips(a, height - half, height);
}

void SweepsCuda::strips(SweepArguments& a, int begin, int end) const {
  const bool shared_row = end - begin == 1 && begin == config_.height - 1 - begin;
  for (int from = begin; from < end; from += strip_rows_) {
    a.begin = from;
    a.rows = std::min(strip_rows_, end - from);
    if (shared_row) {
      launch_sweeps(a, 0, 1);
      launch_sweeps(a, 1, 1);
    } else {
      launch_sweeps(a, 0, 2);
    }
    // The next strip reads the states that this one has written.
    uint4* const written = a.to;
    a.to = const_cast<uint4*>(a.from);
    a.from = written;
  }
}

void SweepsCuda::launch_sweeps(SweepArguments& a, int first, int count) const {
  a.first_sweep = first;
  launch_(kernel_, static_cast<unsigned>(count * a.tiles), a.tile.threads(),
          (a.twice ? 2 : 1) * shared_bytes(), a);
}

template <int kWords>
std::size_t SweepsCuda::shared_bytes_of() const {
  const int vectors = config_.feature_bytes() == 8
                          ? SweepShared<kWords, std::uint64_t>::size(arguments_, diagonal_)
                          : SweepShared<kWords, std::uint32_t>::size(arguments_, diagonal_);
  return sizeof(uint4) * static_cast<std::size_t>(vectors);
}

std::size_t SweepsCuda::shared_bytes() const {
  return plan_.words == 8 ? shared_bytes_of<8>() : shared_bytes_of<16>();
}

/// Chooses the tile with the least estimated time among all that fit shared memory.
void SweepsCuda::choose_tile() {
  const int most_shared_bytes =
      device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory");
  const int multiprocessors = multiprocessor_count();
  const int most_warps = sweep_threads(plan_.words, config_.feature_bytes()) / 32;
  SweepTile best;
  double least = 0;
  for (int halo_warps = diagonal_ ? 1 : 0; halo_warps <= (diagonal_ ? 4 : 0); ++halo_warps)
    for (int main_warps = 1; main_warps + 2 * halo_warps <= most_warps; ++main_warps) {
      lay_out({main_warps, halo_warps, halo_warps * plan_.units, main_warps * plan_.units});
      const double clocks = clocks_per_row(multiprocessors);
      if (shared_bytes() <= static_cast<std::size_t>(most_shared_bytes) &&
          (least == 0 || clocks < least)) {
        least = clocks;
        best = arguments_.tile;
      }
    }
  lay_out(best);
  arguments_.twice = 2 * shared_bytes() <= static_cast<std::size_t>(most_shared_bytes);
  cuda_check(
      cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared_bytes),
      "setting up a kernel on the GPU");
}

void SweepsCuda::lay_out(const SweepTile& tile) {
  SweepArguments& a = arguments_;
  a.tile = tile;
  a.tiles = (config_.width + tile.columns - 1) / tile.columns;
  // Vectors of neighbouring pixels and lanes lie in different banks of shared memory.
  const int apart = plan_.units >= 4 ? 4 : plan_.units == 2 ? 2 : 1;
  a.cell_slots = rounded_up(tile.slots() - apart, 8) + apart;
  const int vector = 16 / config_.feature_bytes();
  const int copy = (tile.slots() - 1 + config_.disparities + 2 * (vector - 1)) / vector;
  a.copy_length = (rounded_up(copy - 1, 8) + 1) * vector;
  strip_rows_ = tile.halo > 0 ? tile.halo : std::max(1, config_.height);
}

/// Roughly estimates the clocks per row with the current layout, for a GPU of compute capability
/// 9.0.
double SweepsCuda::clocks_per_row(int multiprocessors) const {
  // These are for a warp with eight words per lane, on one of four schedulers.
  constexpr double one_path = 220, three_paths = 400;
  constexpr double least = 700;  // latency from row to row
  constexpr double launch = 4000;
  const SweepTile& tile = arguments_.tile;
  double halo_rows = 0;  // rows of a strip in which the halo's warps work, summed over the warps
  for (int warp = 0; warp < tile.halo_warps; ++warp)
    halo_rows += 2 * (tile.halo - 1 - warp * plan_.units);
  const double work =
      (diagonal_ ? three_paths : one_path) * tile.main_warps + one_path * halo_rows / strip_rows_;
  const int rounds = (2 * arguments_.tiles + multiprocessors - 1) / multiprocessors;
  return rounds * std::max(least, work * plan_.words / 8 / 4) + launch / strip_rows_;
}

}  // namespace cudavision::sgm
