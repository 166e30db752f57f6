// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "gst/sgmstereo/rig/geometry/exposure.h"
#include "gst/sgmstereo/rig/geometry/repetition.h"

namespace cudavision::rig {

/// The centre of a block in both pictures, in pixels.
struct MatchedBlock {
  double left_x, left_y, right_x, right_y;
};

/// Describes an inspected pair. Unlike SgmStereo, the inspection also searches other rows.
struct PairFigures {
  /// Minimum numbers of blocks and matches for significant results.
  static constexpr int enough_blocks = 24, enough_matches = 10;
  /// A smaller share of matches does not confirm a swap, and lets inspect() search more rows.
  static constexpr double poorly_matched = 0.24;
  /// Limit of vertical_spread in rectified pictures.
  static constexpr double max_spread = 1;

  Exposure left, right;  ///< measured in a grid of patches

  // Statistics of the disparity map.
  double known = 0;       ///< share of the pixels whose disparity is known
  double at_end = 0;      ///< share of known pixels within a pixel of the last searched disparity
  Repetition repetition;  ///< repetition at the known pixels

  // Statistics of blocks of the left picture that have texture in both directions.
  int cells = 0;         ///< number of grid cells searched for blocks; few if the picture is small
  int blocks = 0;        ///< number of blocks compared; few if the picture is small or untextured
  double agreement = 0;  ///< share of blocks whose matches a reverse search confirms
  double matched = 0;    ///< share of blocks that also match far better than at other positions

  // Statistics of the matched blocks.
  /// Median of (row in the right picture − row in the left), in pixels.
  double vertical_offset = 0;
  double vertical_spread = 0;  ///< interquartile range of this difference

  /// In row-major order. Omits matches in the outermost searched rows, as others may fit better.
  std::vector<MatchedBlock> matches;

  /// Share of the blocks that match if pictures are exchanged; 0 if at least half match as given.
  double matched_if_swapped = 0;

  // Statistics of blocks that match in a larger range of disparities.
  double above_range = 0;     ///< share with disparities above the searched range
  double below_range = 0;     ///< share with disparities below the searched range
  int min_disparity = 0;      ///< 2nd percentile of the disparities
  int largest_disparity = 0;  ///< 98th percentile of the disparities

  // All except the last function return false if too few blocks match. The thresholds separate good
  // pairs from swapped, moved and rotated pairs: see tests/rig/test_pairinspector_pairs.cpp.
  bool vertical_known() const noexcept;  ///< the vertical figures are meaningful
  bool is_swapped() const noexcept;
  bool is_unrectified() const noexcept;
  bool exceeds_range() const noexcept;  ///< many disparities are outside the range or at its end
  bool is_unequally_exposed() const noexcept;
};

}  // namespace cudavision::rig
