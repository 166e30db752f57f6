// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: path aggregation with 16-bit sums. P2 of all steps is computed first. Then the
// horizontal paths write the sums, and the sweeps follow all other paths and add to the sums.
//
// Sums of a whole picture need much memory, so a picture may be matched in bands of rows, from top
// to bottom, whose sums take each other's place. Horizontal paths stay within a band. Downward
// paths go on from one band to the next. Upward paths come from bands that have no sums yet: a
// sweep without sums goes first and stores its states at the borders of the bands.

#include <optional>

#include "cuda/sgm/path_penalty.cuh"
#include "cuda/sgm/paths16/horizontal_lanes.cuh"
#include "cuda/sgm/paths16/sweep_tile.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct P2Arguments;
struct HorizontalArguments;

/// P2 of the steps to each pixel: bytes 0 to 2 from the previous row with dx = 1, 0 and −1, byte 3
/// along the row. [0] is for the paths downwards and to the right, [1] for those upwards and to the
/// left.
using P2Maps = std::array<std::uint32_t*, 2>;

/// The input of the paths. Maps begin at row 0 of the picture.
struct PathInput {
  const void *left, *right;  ///< features
  P2Maps p2;
  PathPenalty penalty;

  /// Returns the input with `row` in place of row 0. It may be −1 if nothing is read from there.
  PathInput from_row(const StageConfig& config, int row) const;
};

/// The paths to the right and to the left.
class HorizontalPathsCuda {
 public:
  /// states points to state_bytes() of scratch memory.
  HorizontalPathsCuda(LaunchQueue& queue, const StageConfig& config, void* states);
  static std::size_t state_bytes(const StageConfig& config, int rows);

  void run(const PathInput& input, int rows, std::uint16_t* sums) const;

 private:
  StageConfig config_;
  HorizontalPlan plan_;
  void* states_;
  LaunchQueue& queue_;
};

/// A kernel of the sweeps, and the tiles and strips that suit it.
class SweepPlan {
 public:
  /// If with_sums is true, both sweeps run at the same time and add to the sums. Otherwise only one
  /// runs, for its states.
  SweepPlan(const StageConfig& config, bool with_sums);

  /// Returns the arguments that stay the same.
  const SweepArguments& arguments() const { return arguments_; }
  /// The most rows of a launch.
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

/// The paths from row to row, in a sweep downwards and one upwards.
class SweepsCuda {
 public:
  /// states points to state_bytes() of memory. Between bands, others may use the bytes from
  /// scratch_begin() on.
  SweepsCuda(Device& device, LaunchQueue& queue, const StageConfig& config, int band_rows,
             void* states);
  static std::size_t state_bytes(const StageConfig& config, int band_rows);
  static std::size_t scratch_begin(const StageConfig& config, int band_rows);
  /// Returns the bytes of the states of one sweep between two rows.
  static std::size_t border_bytes(const StageConfig& config);

  /// Stores the upward states at the borders of the bands.
  void begin(const PathInput& input) const;
  /// Adds to the sums of a band, which begin at sums.
  void run(const PathInput& input, const RowBand& band, std::uint16_t* sums) const;

 private:
  uint4* states_at(int border) const;
  View<std::uint8_t> bytes_of(const uint4* states) const;
  void strips(SweepArguments& a, int begin, int end) const;
  SweepArguments arguments(const SweepPlan& plan, const PathInput& input) const;

  Device& device_;
  StageConfig config_;
  int band_rows_, bands_;
  void* states_;
  SweepPlan plan_;
  std::optional<SweepPlan> upward_plan_;  // without sums; only for several bands
  LaunchQueue& queue_;
};

class AggregateCuda {
 public:
  /// scratch has 8 bytes for each pixel. The bands have band_rows rows each, except that the last
  /// one may have fewer.
  AggregateCuda(Device& device, LaunchQueue& queue, const StageConfig& config, void* scratch,
                int band_rows);
  /// Bands of any multiple of this number of rows fill all launches. Other numbers give the same
  /// sums.
  static int row_unit(const StageConfig& config);
  /// Returns the bytes that bands need in addition to those for one band, sums aside.
  static std::size_t extra_bytes(const StageConfig& config, int band_rows);

  /// Prepares run() for the bands of a picture, which then run from top to bottom.
  /// penalties are those of penalties_under(noise.fixed).
  void begin(const SamplePlane& picture, const void* left, const void* right,
             const Penalties& penalties, const NoiseSource& noise) const;
  /// Makes the sums of a band, which begin at sums. The features are those of the whole pictures.
  void run(const void* left, const void* right, const PathPenalty& penalty, const RowBand& band,
           std::uint16_t* sums) const;

 private:
  void make_p2(const SamplePlane& picture, const Penalties& penalties,
               const PathPenalty& penalty) const;
  PathInput input(const void* left, const void* right, const PathPenalty& penalty) const;

  StageConfig config_;
  P2Maps p2_;
  LaunchQueue& queue_;
  Buffer states_;
  SweepsCuda sweeps_;
  HorizontalPathsCuda horizontal_;
};

}  // namespace cudavision::sgm
