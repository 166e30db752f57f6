// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: path aggregation with 16-bit sums. P2 of all steps is computed first. Then the
// horizontal paths write the sums, and the sweeps add all other paths to them.
//
// Sums of a whole picture need much memory, so it may be matched in bands of rows that reuse this
// memory, from top to bottom. Horizontal paths stay within a band. Downward paths continue from
// band to band. Upward paths come from bands without sums yet: a sweep without sums runs first, and
// stores its states at the borders of the bands.

#include <optional>

#include "cuda/sgm/path_penalty.cuh"
#include "cuda/sgm/paths16/horizontal_lanes.cuh"
#include "cuda/sgm/paths16/sweep_tile.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

/// P2 of the steps to each pixel: bytes 0 to 2 from the previous row with dx = 1, 0, −1, byte 3
/// along the row. [0]: downward and rightward paths, [1]: upward and leftward paths.
using P2Maps = std::array<std::uint32_t*, 2>;

struct PathInput {
  const void *left, *right;  ///< features
  P2Maps p2;
  PathPenalty penalty;

  /// row may be −1 if nothing is read there.
  PathInput from_row(const StageConfig& config, int row) const;
};

/// Follows the horizontal paths in some rows. states has horizontal_state_bytes().
void follow_horizontal_paths(const StageResources& resources, const PathInput& input, int rows,
                             void* states, std::uint16_t* sums);
std::size_t horizontal_state_bytes(const StageConfig& config, int rows);

class SweepPlan {
 public:
  /// With sums, two sweeps run concurrently and add to them; else one runs, for its states.
  SweepPlan(const StageConfig& config, bool with_sums);

  const SweepArguments& arguments() const { return arguments_; }
  int strip_rows() const { return strip_rows_; }

  void launch(LaunchQueue& queue, SweepArguments a, int first_sweep, int sweeps) const;

 private:
  void choose_tile();
  void lay_out(const SweepTile& tile);
  double clocks_per_row(int multiprocessors) const;
  std::size_t shared_bytes() const;
  template <int kWords>
  std::size_t shared_bytes_of() const;

  StageConfig config_;
  PathPlan plan_;
  bool diagonal_;
  int sweeps_;  // at the same time
  Kernel<SweepArguments> kernel_;
  SweepArguments arguments_{};
  int strip_rows_ = 1;
};

/// The vertical and diagonal paths, in a downward and an upward sweep.
class SweepsCuda {
 public:
  /// states has state_bytes(), or more.
  SweepsCuda(Device& device, const StageResources& resources, int band_rows, void* states);
  static std::size_t state_bytes(const StageConfig& config, int band_rows);
  static std::size_t scratch_begin(const StageConfig& config, int band_rows);
  /// Returns the bytes of one sweep's states between two rows.
  static std::size_t border_bytes(const StageConfig& config);

  void begin(const PathInput& input) const;
  void run(const PathInput& input, const RowBand& band, std::uint16_t* sums) const;
  /// The states from scratch_begin() on, which may be overwritten between calls of run().
  void* scratch() const { return states_at(bands_ + 1); }

 private:
  uint4* states_at(int border) const;
  View<std::uint8_t> bytes_of(const uint4* states) const;
  void strips(SweepArguments& a, int begin, int end) const;
  SweepArguments arguments(const SweepPlan& plan, const PathInput& input) const;

  Device& device_;
  LaunchQueue& queue_;
  const StageConfig& config_;
  int band_rows_, bands_;
  void* states_;
  SweepPlan plan_;
  std::optional<SweepPlan> upward_plan_;  // without sums; only for several bands
};

class AggregateCuda {
 public:
  /// Bands have band_rows rows; the last band may have fewer. The scratch memory has 8 bytes for
  /// each pixel.
  AggregateCuda(Device& device, const StageResources& resources, int band_rows);
  /// Bands of any multiple of this number of rows fill all launches.
  static int row_unit(const StageConfig& config);
  /// The additional bytes for several bands, without sums.
  static std::size_t extra_bytes(const StageConfig& config, int band_rows);

  /// Prepares run() for bands from top to bottom. left and right are the features of the whole
  /// pictures. penalties come from penalties_under(noise.fixed).
  PathInput begin(const SamplePlane& picture, const void* left, const void* right,
                  const Penalties& penalties, const NoiseSource& noise) const;
  /// Writes the sums of a band.
  void run(const PathInput& input, const RowBand& band, std::uint16_t* sums) const;

 private:
  const StageResources& resources_;
  Buffer states_;
  SweepsCuda sweeps_;
};

}  // namespace cudavision::sgm
