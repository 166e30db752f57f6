// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: path aggregation on CUDA. P2 of all steps is computed first. Then the horizontal
// paths write the sums, and the sweeps follow all other paths and add to the sums.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/aggregate/horizontal_lanes.cuh"
#include "cuda/sgm/aggregate/sweep_tile.cuh"
#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

struct P2Arguments;
struct HorizontalArguments;

/// P2 of the steps to each pixel: bytes 0 to 2 from the previous row with dx = 1, 0 and −1, byte 3
/// along the row. [0] is for the paths downwards and to the right, [1] for those upwards and to the
/// left.
using P2Maps = std::array<std::uint32_t*, 2>;

/// The paths to the right and to the left.
class HorizontalPathsCuda {
 public:
  /// states points to state_bytes() of scratch memory.
  HorizontalPathsCuda(Device& device, const StageConfig& config, const P2Maps& p2, void* states);
  static std::size_t state_bytes(const StageConfig& config);

  /// p1 holds P1 in both of its 16-bit halves.
  void run(const void* left, const void* right, std::uint32_t p1, std::uint16_t* sums) const;

 private:
  StageConfig config_;
  HorizontalPlan plan_;
  P2Maps p2_;
  void* states_;
  Launcher<HorizontalArguments> launch_;
};

/// The paths from row to row, in a sweep downwards and one upwards.
class SweepsCuda {
 public:
  /// states points to state_bytes() of scratch memory.
  SweepsCuda(Device& device, const StageConfig& config, const P2Maps& p2, void* states);
  static std::size_t state_bytes(const StageConfig& config);

  /// p1 holds P1 in both of its 16-bit halves.
  void run(const void* left, const void* right, std::uint32_t p1, std::uint16_t* sums) const;

 private:
  void choose_tile();
  void lay_out(const SweepTile& tile);
  double clocks_per_row(int multiprocessors) const;
  std::size_t shared_bytes() const;
  template <int kWords>
  std::size_t shared_bytes_of() const;
  void strips(SweepArguments& a, int begin, int end) const;
  void launch_sweeps(SweepArguments& a, int first, int count) const;

  StageConfig config_;
  PathPlan plan_;
  bool diagonal_;
  Launcher<SweepArguments>::Kernel kernel_;
  SweepArguments arguments_{};  // those that stay the same
  int strip_rows_ = 1;          // most rows per launch
  Launcher<SweepArguments> launch_;
};

class AggregateCuda {
 public:
  /// scratch has 8 bytes for each pixel.
  AggregateCuda(Device& device, const StageConfig& config, void* scratch);
  void run(const SamplePlane& picture, const void* left, const void* right,
           const Penalties& penalties, std::uint16_t* sums) const;

 private:
  void make_p2(const SamplePlane& picture, const Penalties& penalties) const;

  StageConfig config_;
  P2Maps p2_;
  Launcher<P2Arguments> launch_p2_;
  Buffer states_;  // of the horizontal paths, then of the sweeps
  HorizontalPathsCuda horizontal_;
  SweepsCuda sweeps_;
};

}  // namespace cudavision::sgm
