// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "gst/sgmstereo/rig/geometry/exposure.h"
#include "gst/sgmstereo/rig/geometry/repetition.h"

namespace cudavision::rig {

/// A block that both pictures show: the positions of its centre, in pixels.
struct MatchedBlock {
  double left_x, left_y, right_x, right_y;
};

/// The figures of an inspected pair. SgmStereo assumes that a point is in the same row of both
/// pictures. Blocks are also searched in other rows, to show why a map has few known pixels.
struct PairFigures {
  /// Fewer blocks, or fewer matches, show nothing.
  static constexpr int enough_blocks = 24, enough_matches = 10;
  /// The share of matches below which pictures do not fit each other.
  static constexpr double poorly_matched = 0.24;
  /// Vertical spreads of rectified pictures are smaller.
  static constexpr double max_spread = 1;

  Exposure left, right;  ///< of the pictures, estimated from a grid of places

  // These describe the map.
  double known = 0;       ///< share of the pixels whose disparity is known
  double at_end = 0;      ///< of these, the share within a pixel of the largest disparity searched
  Repetition repetition;  ///< of the known pixels

  // These describe blocks of the left picture with texture in both directions.
  int places = 0;        ///< places examined for blocks; few if the picture is small
  int blocks = 0;        ///< blocks compared; few or none if the picture is small or plain
  double agreement = 0;  ///< share whose best match in the right picture also matches back
  double matched = 0;    ///< share that agree, and match far better than anywhere else

  // These describe the matched blocks.
  /// Median of (row in the right picture − row in the left), in pixels.
  double vertical_offset = 0;
  double vertical_spread = 0;  ///< difference of its upper and lower quartiles

  /// Row by row, without the first and the last row searched: better matches may be beyond.
  std::vector<MatchedBlock> matches;

  /// Share of the blocks that match if pictures are exchanged. Measured if fewer than half match.
  double matched_if_swapped = 0;

  // These describe the blocks that match in a larger range of disparities.
  double above_range = 0;     ///< share with disparities above the searched range
  double below_range = 0;     ///< share with disparities below it
  int min_disparity = 0;      ///< the smallest, a few blocks aside
  int largest_disparity = 0;  ///< the largest, a few blocks aside

  // False if too few blocks match. The thresholds separate good pairs from swapped, moved and
  // rotated pairs (tests/rig/test_pairinspector.cpp prints both).
  bool vertical_known() const noexcept;  ///< the vertical figures are meaningful
  bool is_swapped() const noexcept;
  bool is_unrectified() const noexcept;
  bool exceeds_range() const noexcept;  ///< disparities are above or below the range
  bool is_unequally_exposed() const noexcept;
};

}  // namespace cudavision::rig
