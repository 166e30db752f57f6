// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: path aggregation with 8-bit sums.
//
// The paths along columns, diagonals and rows are independent, so two kernels run concurrently:
// columns_cuda.cu follows columns and diagonals, rows_cuda.cu follows rows. A path is followed from
// both ends at once. Up to the middle, it stores L − C + P1 in a byte. Beyond the middle, it adds
// L − C to the stored byte of the opposite path, and subtracts P1. Columns and diagonals also add
// matching costs, together as many as there are paths, so that the bytes of a pixel in all volumes
// add up to the sum over all paths.
//
// Both kernels are bound by latency, not by memory: a step of a path depends on the previous one.
// So they use few lanes per pixel, and warps that wait for no other warp except in the middle.

#include "cuda/sgm/path_penalty.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

/// The input of the paths: planes of words that have the same pitch. Each pointer points to column
/// 0 of row 0.
struct MatchPlanes {
  /// Column x holds the feature that pixel x of the left picture meets at disparity 0. The columns
  /// begin at −right_margin().
  std::uint32_t* right;
  std::uint32_t* left;
  std::uint32_t* vertical;     ///< P2, in both halves, of the step from (x, y − 1) to (x, y)
  std::uint32_t* horizontal;   ///< likewise of the step from (x − 1, y) to (x, y)
  std::uint32_t* diagonal[2];  ///< and of those from (x ∓ 1, y − 1); null with 4 paths
  int pitch;                   ///< in words, a multiple of 4
};

/// Sums of pixel (x, y) begin at byte (y·pitch + x)·D, with D the disparities of the volumes. Those
/// of d and d + D/2 are neighbours: bytes 2·d and 2·d + 1. Columns outside the picture, and
/// disparities that do not exist, have the largest sums. There are more columns on both sides, to
/// which paths write as they leave the picture.
struct SumVolumes {
  static constexpr int margin = 4;

  std::uint8_t *columns, *rows;
  std::uint8_t* diagonals[2];  ///< null with 4 paths
  int pitch;                   ///< in pixels
};

/// The costs of paths along columns and diagonals between two rows, in the order in which the warps
/// that follow them have them in registers. They continue the paths where a band of rows ends and
/// another one begins. Null at the edges of the picture.
struct BandStates {
  const uint2 *from_above, *from_below;
  uint2* to_below;
};

/// The rows of the picture that the paths follow, and of which the volumes hold the sums. The
/// planes begin at the first of them.
struct PathsArguments {
  MatchPlanes planes;
  SumVolumes sums;
  BandStates states;
  int top;            ///< the first row in the picture
  int width, height;  ///< height in rows of the band
  int columns;        ///< of the volumes
  int disparities;    ///< that exist
  PathPenalty penalty;
};

/// Dimensions of planes and volumes, which are padded so that the kernels need few conditions.
struct MatchExtent {
  static constexpr int column_unit = 16, row_unit = 4;  ///< bands of rows are whole units, too
  static constexpr int max_disparities = 256;

  explicit MatchExtent(const StageConfig& config)
      : columns((config.width + column_unit - 1) / column_unit * column_unit),
        disparities(config.disparities <= 64    ? 64
                    : config.disparities <= 128 ? 128
                                                : max_disparities) {}

  /// Pixels from a row of the volumes to the next one.
  int sum_pitch() const { return columns + 2 * SumVolumes::margin; }

  int columns, disparities;
};
constexpr int right_margin(int disparities) {
  return disparities + 16;
}

/// Calls visit with two constants that a kernel is built for: the disparities of the volumes, as a
/// std::integral_constant, and whether all of them exist, as a std::bool_constant.
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

/// A kernel and the shape of its launch.
template <class Arguments>
struct BlocksOf {
  Kernel<Arguments> kernel;
  unsigned blocks, threads;
  std::size_t shared_bytes;
};

/// The kernels of the paths, in columns_cuda.cu and rows_cuda.cu, for a band. `rows` are its rows.
using PathsLaunch = BlocksOf<PathsArguments>;
PathsLaunch columns_launch(const StageConfig& config);
PathsLaunch rows_launch(const StageConfig& config, int rows);

/// The paths upwards through the whole picture, without sums. Stores the states at the first row of
/// each band but the first.
struct StatesArguments {
  PathsArguments paths;  ///< states.from_below is not used
  uint2* states;
  int band_rows;
};
using StatesLaunch = BlocksOf<StatesArguments>;
StatesLaunch states_launch(const StageConfig& config);
/// The size of the states at one row.
std::size_t state_vectors(const StageConfig& config);

}  // namespace cudavision::sgm
