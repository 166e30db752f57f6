// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: path aggregation with 16-bit sums. P2 of all steps is computed first. Then the
// horizontal paths write the sums, and a downward and an upward sweep add all other paths.
//
// If memory is short, bands of rows are matched one after the other, from top to bottom. Downward
// paths continue from band to band. For upward paths, a first sweep from the bottom of the picture
// computes no sums, but stores the states of the paths at the borders of the bands.

#include <optional>

#include "cuda/sgm/path_penalty.cuh"
#include "cuda/sgm/paths16/horizontal_lanes.cuh"
#include "cuda/sgm/paths16/sweep_tile.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

/// P2 of the steps to each pixel. Bytes 0 to 2: from the previous row with dx = 1, 0, −1; byte 3:
/// along the row. Map 0 is for downward and rightward paths, map 1 for upward and leftward paths.
using P2Maps = std::array<std::uint32_t*, 2>;

struct PathInput {
  const void *left, *right;  ///< features
  P2Maps p2;
  PathPenalty penalty;

  PathInput from_row(const StageConfig& config, int row) const;
};

/// Follows the horizontal paths of `rows` rows. Overwrites horizontal_state_bytes() of states.
void follow_horizontal_paths(const StageResources& resources, const PathInput& input, int rows,
                             void* states, std::uint16_t* sums);
std::size_t horizontal_state_bytes(const StageConfig& config, int rows);

class SweepPlan {
 public:
  /// With sums, a launch has two sweeps, except in a middle row. Without sums, it has one.
  SweepPlan(const StageConfig& config, bool with_sums);

  SweepArguments arguments(const PathInput& input) const;
  int strip_rows() const { return strip_rows_; }

  void launch(LaunchQueue& queue, SweepArguments a, int first_sweep, int sweeps) const;

 private:
  void choose_tile();
  void lay_out(const SweepTile& tile);
  double clocks_per_row(int multiprocessors) const;
  std::size_t shared_bytes() const;

  StageConfig config_;
  PathPlan plan_;
  bool diagonal_;
  int sweeps_;  // sweeps per launch, except in a middle row
  Kernel<SweepArguments> kernel_;
  SweepArguments arguments_{};
  int strip_rows_ = 1;
};

class AggregateCuda {
 public:
  /// Bands have band_rows rows; the last band may have fewer. Needs 8 bytes of scratch per pixel.
  AggregateCuda(Device& device, const StageResources& resources, int band_rows);
  /// Returns n such that bands of n, 2n, 3n… rows fill all of their launches.
  static int row_unit(const StageConfig& config);
  /// Returns the additional memory for several bands, in bytes, without the sums.
  static std::size_t extra_bytes(const StageConfig& config, int band_rows);

  /// Prepares run(), which must be called for the bands from top to bottom. left and right are the
  /// features of the whole pictures. penalties come from penalties_under(noise.fixed, …).
  PathInput begin(const SamplePlane& picture, const void* left, const void* right,
                  const Penalties& penalties, const NoiseSource& noise) const;
  void run(const PathInput& input, const RowBand& band, std::uint16_t* sums) const;

 private:
  void store_upward_states(const PathInput& input) const;
  void run_sweeps(const PathInput& input, const RowBand& band, std::uint16_t* sums) const;
  void run_strips(SweepArguments& a, int begin, int end) const;
  uint4* states_at(int border) const;
  View<std::uint8_t> bytes_of(const uint4* states) const;

  Device& device_;
  const StageResources& resources_;
  int band_rows_, bands_;
  Buffer states_;
  SweepPlan plan_;
  std::optional<SweepPlan> upward_plan_;  // computes no sums; used only if there are several bands
};

}  // namespace cudavision::sgm
