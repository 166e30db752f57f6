// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Costs of paths on CUDA: P2 of all steps, then the paths along rows, which make the sums, then
// those from row to row, which add to them strip by strip.

#include <algorithm>
#include <cstring>

#include "cuda/core/cuda_check.h"
#include "cuda/sgm/aggregate/cuda.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

constexpr int p2_threads = 256;

struct P2Arguments {
  Samples picture;
  int shift;  // from steps of the luminance to the table
  std::uint8_t table[256];
  std::uint32_t* p2[2];
  int blocks_per_row;
};

/// The P2 of all paths that come to a pixel: bytes 0 to 2 from the row before with dx = 1, 0 and
/// −1, byte 3 along the row; [0] downwards and to the right, [1] upwards and to the left.
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
  // Where a path begins its P2 is of no effect: any is good, so that of a step to the edge.
  const auto p2 = [&](int dx, int dy) {
    const int step = here - static_cast<int>(a.picture.at_or_edge(x - dx, y - dy));
    return static_cast<std::uint32_t>(table[(step < 0 ? -step : step) >> a.shift]);
  };
  const std::int64_t pixel = static_cast<std::int64_t>(y) * a.picture.width + x;
  a.p2[0][pixel] = p2(1, 1) | p2(0, 1) << 8 | p2(-1, 1) << 16 | p2(1, 0) << 24;
  a.p2[1][pixel] = p2(1, -1) | p2(0, -1) << 8 | p2(-1, -1) << 16 | p2(-1, 0) << 24;
}

std::uint32_t in_both_halves(int value) {
  return static_cast<std::uint32_t>(value) * 0x10001u;
}

int rounded_up(int value, int step) {
  return (value + step - 1) / step * step;
}

class Backend final : public AggregateCuda {
 public:
  Backend(Device& device, const Config& config, void* scratch)
      : config_(config),
        plan_(path_plan(config.disparities)),
        row_plan_(horizontal_plan(config.disparities)),
        paths_(config.paths == 8 ? 3 : 1),
        sweep_kernel_(sweep_kernel_for(plan_, config.feature_bytes(), config.paths == 8)),
        launch_p2_(device.stream(), p2_kernel),
        launch_horizontal_(device.stream(),
                           horizontal_kernel_for(row_plan_, config.feature_bytes(), false)),
        launch_sweep_(device.stream(), sweep_kernel_) {
    p2_[0] = static_cast<std::uint32_t*>(scratch);
    p2_[1] = p2_[0] + config.pixels();
    const auto disparities = static_cast<std::size_t>(config.disparities);
    const std::size_t horizontal = 2 * static_cast<std::size_t>(config.height) * disparities;
    sweep_state_ = 2 * static_cast<std::size_t>(paths_) * config.width * disparities;
    states_ = device.allocate(std::max(horizontal, 2 * sweep_state_));
    choose_tile();
  }

  void run(const SamplePlane& picture, const void* left, const void* right,
           const Penalties& penalties, std::uint16_t* sums) const override {
    make_p2(picture, penalties);
    follow_rows(left, right, penalties, sums);
    sweep(left, right, penalties, sums);
  }

 private:
  void make_p2(const SamplePlane& picture, const Penalties& penalties) const {
    P2Arguments a;
    a.picture = Samples(picture);
    a.shift = picture.bits - 8;
    std::memcpy(a.table, penalties.p2.data(), sizeof a.table);
    a.p2[0] = p2_[0];
    a.p2[1] = p2_[1];
    a.blocks_per_row = (config_.width + p2_threads - 1) / p2_threads;
    launch_p2_(p2_kernel, static_cast<unsigned>(a.blocks_per_row) * config_.height, p2_threads, 0,
               a);
  }

  void follow_rows(const void* left, const void* right, const Penalties& penalties,
                   std::uint16_t* sums) const {
    HorizontalArguments a{};
    a.left = left;
    a.right = right;
    a.p2[0] = p2_[0];
    a.p2[1] = p2_[1];
    a.sums = sums;
    a.states = states_.as<uint4>();
    a.width = config_.width;
    a.height = config_.height;
    a.disparities = config_.disparities;
    a.minimum = config_.minimum;
    a.p1 = in_both_halves(penalties.p1);
    a.lanes = row_plan_.lanes;
    const int feature_bytes = config_.feature_bytes();
    const int warps = 2 * ((config_.height + row_plan_.units - 1) / row_plan_.units);
    for (const bool second : {false, true})
      launch_horizontal_(horizontal_kernel_for(row_plan_, feature_bytes, second),
                         static_cast<unsigned>(warps), horizontal_threads,
                         horizontal_shared_bytes(row_plan_, config_.disparities, feature_bytes), a);
  }

  void sweep(const void* left, const void* right, const Penalties& penalties,
             std::uint16_t* sums) const {
    SweepArguments a = sweep_;
    a.left = left;
    a.right = right;
    a.sums = sums;
    a.p1 = in_both_halves(penalties.p1);
    // Both sweeps at the same time, strip by strip, until they meet; a row in the middle is one
    // sweep's after the other's; then each goes on where the other was.
    const int height = config_.height;
    const int half = height / 2;
    strips(a, 0, half);
    if (height % 2 != 0)
      strips(a, half, half + 1);
    strips(a, height - half, height);
  }

  void strips(SweepArguments& a, int begin, int end) const {
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
      // What has been written is read next.
      uint4* const written = a.to;
      a.to = const_cast<uint4*>(a.from);
      a.from = written;
    }
  }

  void launch_sweeps(SweepArguments& a, int first, int count) const {
    a.first_sweep = first;
    launch_sweep_(sweep_kernel_, static_cast<unsigned>(count * a.tiles), a.tile.threads(),
                  (a.twice ? 2 : 1) * shared_bytes(a), a);
  }

  std::size_t shared_bytes(const SweepArguments& a) const {
    return plan_.words == 8 ? shared_bytes<8>(a) : shared_bytes<16>(a);
  }
  template <int kWords>
  std::size_t shared_bytes(const SweepArguments& a) const {
    const int vectors = config_.feature_bytes() == 8
                            ? SweepShared<kWords, std::uint64_t>::size(a, paths_ == 3)
                            : SweepShared<kWords, std::uint32_t>::size(a, paths_ == 3);
    return sizeof(uint4) * static_cast<std::size_t>(vectors);
  }

  /// How the picture is cut: of all ways that fit shared memory the one that should take least
  /// time.
  void choose_tile() {
    sweep_.width = config_.width;
    sweep_.height = config_.height;
    sweep_.disparities = config_.disparities;
    sweep_.minimum = config_.minimum;
    sweep_.lanes = plan_.lanes;
    sweep_.units = plan_.units;
    sweep_.p2[0] = p2_[0];
    sweep_.p2[1] = p2_[1];
    sweep_.from = states_.as<uint4>();
    sweep_.to = states_.as<uint4>() + sweep_state_ / sizeof(uint4);

    const int most_shared_bytes =
        device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory");
    const int multiprocessors = multiprocessor_count();
    const int most_warps = sweep_threads(plan_.words, config_.feature_bytes()) / 32;
    const bool diagonal = paths_ == 3;
    SweepTile best;
    double least = 0;
    for (int halo_warps = diagonal ? 1 : 0; halo_warps <= (diagonal ? 4 : 0); ++halo_warps)
      for (int main_warps = 1; main_warps + 2 * halo_warps <= most_warps; ++main_warps) {
        lay_out({main_warps, halo_warps, halo_warps * plan_.units, main_warps * plan_.units});
        const double clocks = clocks_per_row(multiprocessors);
        if (shared_bytes(sweep_) <= static_cast<std::size_t>(most_shared_bytes) &&
            (least == 0 || clocks < least)) {
          least = clocks;
          best = sweep_.tile;
        }
      }
    lay_out(best);
    sweep_.twice = 2 * shared_bytes(sweep_) <= static_cast<std::size_t>(most_shared_bytes);
    cuda_check(cudaFuncSetAttribute(sweep_kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    most_shared_bytes),
               "setting up a kernel on the GPU");
  }

  void lay_out(const SweepTile& tile) {
    sweep_.tile = tile;
    sweep_.tiles = (config_.width + tile.columns - 1) / tile.columns;
    // Vectors of neighbouring pixels and lanes lie in different banks of shared memory.
    const int apart = plan_.units >= 4 ? 4 : plan_.units == 2 ? 2 : 1;
    sweep_.cell_slots = rounded_up(tile.slots() - apart, 8) + apart;
    const int vector = 16 / config_.feature_bytes();
    const int copy = (tile.slots() - 1 + config_.disparities + 2 * (vector - 1)) / vector;
    sweep_.copy_length = (rounded_up(copy - 1, 8) + 1) * vector;
    strip_rows_ = tile.halo > 0 ? tile.halo : std::max(1, config_.height);
  }

  /// Roughly, of a GPU of compute capability 9.0, for the layout at hand.
  double clocks_per_row(int multiprocessors) const {
    // Of eight words, on one of four schedulers.
    constexpr double one_path = 220, three_paths = 400;
    constexpr double least = 700;  // what one row waits for the other
    constexpr double launch = 4000;
    const SweepTile& tile = sweep_.tile;
    double halo_rows = 0;  // in which the warps beside the tile are at work
    for (int warp = 0; warp < tile.halo_warps; ++warp)
      halo_rows += 2 * (tile.halo - 1 - warp * plan_.units);
    const double work = (paths_ == 3 ? three_paths : one_path) * tile.main_warps +
                        one_path * halo_rows / strip_rows_;
    const int rounds = (2 * sweep_.tiles + multiprocessors - 1) / multiprocessors;
    return rounds * std::max(least, work * plan_.words / 8 / 4) + launch / strip_rows_;
  }

  Config config_;
  PathPlan plan_;
  HorizontalPlan row_plan_;
  int paths_;  // of a sweep
  SweepKernel sweep_kernel_;
  std::uint32_t* p2_[2];
  Buffer states_;
  std::size_t sweep_state_ = 0;  // bytes, of both sweeps
  SweepArguments sweep_{};       // what does not change
  int strip_rows_ = 1;
  Launcher<P2Arguments> launch_p2_;
  Launcher<HorizontalArguments> launch_horizontal_;
  Launcher<SweepArguments> launch_sweep_;
};

}  // namespace

std::unique_ptr<AggregateCuda> make_aggregate_cuda(Device& device, const Config& config,
                                                   void* scratch) {
  return std::make_unique<Backend>(device, config, scratch);
}

}  // namespace cudavision::sgm
