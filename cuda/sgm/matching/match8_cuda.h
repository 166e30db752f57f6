// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: Stages::match() after the census, with 8-bit sums. Requires at most 256
// disparities, features of at most 32 bits, and penalties small enough for 8-bit sums.

#include "cuda/sgm/paths8/paths8_cuda.h"

namespace cudavision::sgm {

struct MatchInput {
  FeaturePlane left, right;
  StepPenalties steps;
};

/// Matches in bands of `band_rows` rows, from top to bottom. Upward paths continue from the band
/// below, so if there are several bands, a first pass stores the paths' states at the borders.
class Match8Cuda {
 public:
  static bool supports(const StageConfig& config);
  static std::size_t volume_bytes(const StageConfig& config, int band_rows);
  static std::size_t state_bytes(const StageConfig& config, int band_rows);

  /// band_rows is a multiple of MatchExtent::row_unit, or the height. volumes has volume_bytes().
  Match8Cuda(Device& device, LaunchQueue& queue, const StageConfig& config, int band_rows,
             std::uint8_t* volumes);

  bool fits(const Penalties& penalties) const;
  /// bits is the depth of the picture from which luminance steps are computed.
  MatchInput input(int bits, const Penalties& penalties) const;
  void run(const PathPenalty& penalty, float uniqueness, Subpixel subpixel,
           const WtaResult& winners) const;

 private:
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
