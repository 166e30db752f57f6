// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: path aggregation with 8-bit sums.
//
// Two kernels run concurrently: columns_cuda.cu follows columns and diagonals, rows_cuda.cu follows
// rows. Up to the middle, a path stores L − C + P1 in a byte per disparity. Beyond the middle, it
// adds L − C to the opposite path's byte, and subtracts P1. Columns and diagonals also add C, in
// total once for each path. So a pixel's bytes in all volumes add up to the sum over all paths.
//
// Both kernels are bound by latency, so they use few lanes per pixel and few barriers.

#include "cuda/core/division.h"
#include "cuda/sgm/path_penalty.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

/// Pointers to column 0 of row 0 in planes of words with the same pitch.
struct MatchPlanes {
  /// Column x has the feature for left pixel x at disparity 0. Columns begin at −right_margin().
  std::uint32_t* right;
  std::uint32_t* left;
  std::uint32_t* vertical;     ///< P2, in both halves, of the step from (x, y − 1) to (x, y)
  std::uint32_t* horizontal;   ///< P2 of the step from (x − 1, y) to (x, y)
  std::uint32_t* diagonal[2];  ///< P2 of steps from (x ∓ 1, y − 1); null with 4 paths
  int pitch;                   ///< in words, a multiple of 4
};

/// Sums of pixel (x, y) begin at byte (y·pitch + x)·D, with D the disparities of the volumes. The
/// sums of d and d + D/2 are neighbours: bytes 2·d and 2·d + 1. Columns outside the picture and
/// missing disparities have the largest sums. Paths also write to margin columns on both sides.
struct SumVolumes {
  static constexpr int margin = 4;

  std::uint8_t *columns, *rows;
  std::uint8_t* diagonals[2];  ///< null with 4 paths
  int pitch;                   ///< in pixels
};

/// Path costs of columns and diagonals between bands, in register order. Null at picture edges.
struct BandStates {
  const uint2 *from_above, *from_below;
  uint2* to_below;
};

/// A band of rows. Planes begin at the first row of the band.
struct PathsArguments {
  MatchPlanes planes;
  SumVolumes sums;
  BandStates states;
  int top;            ///< picture row of the band's first row
  int width, height;  ///< height is the number of rows in the band
  int columns;        ///< columns of the volumes, without margins
  int disparities;    ///< disparities of the config, without padding
  PathPenalty penalty;
};

/// Dimensions of planes and volumes, padded so that kernels need few bounds checks.
struct MatchExtent {
  static constexpr int column_unit = 16, row_unit = 4;  ///< for row_unit, see Match8Cuda()
  static constexpr int max_disparities = 256;

  explicit MatchExtent(const StageConfig& config)
      : columns(round_up(config.width, column_unit)),
        disparities(config.disparities <= 64    ? 64
                    : config.disparities <= 128 ? 128
                                                : max_disparities) {}

  int sum_pitch() const { return columns + 2 * SumVolumes::margin; }

  int columns, disparities;
};
constexpr int right_margin(int disparities) {
  return disparities + 16;
}

/// Calls visit with the disparities of the volumes as a std::integral_constant, and with a
/// std::bool_constant that is true if the config has all of these disparities.
template <class Visit>
auto with_constants(const StageConfig& config, const Visit& visit) {
  const auto with = [&](auto disparities) {
    return config.disparities == disparities ? visit(disparities, std::true_type())
                                             : visit(disparities, std::false_type());
  };
  switch (MatchExtent(config).disparities) {
    case 64:
      return with(std::integral_constant<int, 64>());
    case 128:
      return with(std::integral_constant<int, 128>());
    default:
      return with(std::integral_constant<int, MatchExtent::max_disparities>());
  }
}

template <class Arguments>
struct BlocksOf {
  Kernel<Arguments> kernel;
  unsigned blocks, threads;
  std::size_t shared_bytes;
};

/// The kernels of the paths in a band of `rows` rows, from columns_cuda.cu and rows_cuda.cu.
using PathsLaunch = BlocksOf<PathsArguments>;
PathsLaunch columns_launch(const StageConfig& config);
PathsLaunch rows_launch(const StageConfig& config, int rows);

/// Arguments of the upward paths from the bottom of the picture, without sums. The paths store
/// their states at the first row of each band except the first band.
struct StatesArguments {
  PathsArguments paths;  ///< of the whole picture; states.from_below is null
  uint2* states;
  int band_rows;
};
using StatesLaunch = BlocksOf<StatesArguments>;
StatesLaunch states_launch(const StageConfig& config);
std::size_t state_vectors(const StageConfig& config);

}  // namespace cudavision::sgm
