// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: Stages::match() after the census, with 8-bit sums. It needs at most 256
// disparities, features of at most 32 bits and penalties with which the sums fit bytes.

#include "cuda/sgm/paths8/paths8_cuda.h"

namespace cudavision::sgm {

/// Matches a picture in bands of `band_rows` rows, from top to bottom. With several bands, the
/// paths upwards are first followed through all of them, because each band continues the paths of
/// the next one.
class Match8Cuda {
 public:
  static bool supports(const StageConfig& config);
  /// The bytes of the volumes of a band.
  static std::size_t volume_bytes(const StageConfig& config, int band_rows);
  /// The bytes of the states between bands.
  static std::size_t state_bytes(const StageConfig& config, int band_rows);

  /// band_rows is a multiple of MatchExtent::row_unit, or covers the picture. volumes points to
  /// volume_bytes().
  Match8Cuda(Device& device, LaunchQueue& queue, const StageConfig& config, int band_rows,
             std::uint8_t* volumes);

  /// True if sums with these penalties fit the bytes.
  bool fits(const Penalties& penalties) const;
  /// Where a census writes what run() reads.
  struct Input {
    FeaturePlane left, right;
    StepPenalties steps;
  };
  /// bits are those of the samples from which the steps are computed.
  Input input(int bits, const Penalties& penalties) const;
  void run(const PathPenalty& penalty, float uniqueness, Subpixel subpixel,
           const WtaResult& winners) const;

 private:
  PathsArguments picture_arguments(const PathPenalty& penalty) const;
  PathsArguments band_arguments(PathsArguments picture, int top) const;

  LaunchQueue& queue_;
  StageConfig config_;
  int band_rows_;
  bool columns_first_;
  Buffer plane_memory_, states_;
  MatchPlanes planes_;
  SumVolumes sums_;
  Select8Cuda winners_;
};

}  // namespace cudavision::sgm
