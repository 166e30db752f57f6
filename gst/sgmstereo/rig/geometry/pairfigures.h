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
  /// Fewer blocks or matches are not significant.
  static constexpr int enough_blocks = 24, enough_matches = 10;
  /// Below this share of matches, the pictures do not fit each other.
  static constexpr double poorly_matched = 0.24;
  /// Limit of vertical_spread in rectified pictures.
  static constexpr double max_spread = 1;

  Exposure left, right;  ///< estimated from a grid of places

  // These describe the map.
  double known = 0;       ///< share of the pixels whose disparity is known
  double at_end = 0;      ///< share of known pixels within a pixel of the largest disparity
  Repetition repetition;  ///< of the known pixels

  // These describe blocks of the left picture with texture in both directions.
  int places = 0;        ///< places examined for blocks; few if the picture is small
  int blocks = 0;        ///< blocks compared; few if the picture is small or has no texture
  double agreement = 0;  ///< share whose best match matches back in the left picture
  double matched = 0;    ///< share that match back, and match far better than elsewhere

  // These describe the matched blocks.
  /// Median of (row in the right picture − row in the left), in pixels.
  double vertical_offset = 0;
  double vertical_spread = 0;  ///< interquartile range of this difference

  /// Row by row. Excludes the first and last row searched, because rows beyond may match better.
  std::vector<MatchedBlock> matches;

  /// Share of the blocks that match if pictures are exchanged; 0 if at least half match as given.
  double matched_if_swapped = 0;

  // These describe blocks that match in a larger range of disparities.
  double above_range = 0;     ///< share with disparities above the searched range
  double below_range = 0;     ///< share with disparities below it
  int min_disparity = 0;      ///< 2nd percentile of the disparities
  int largest_disparity = 0;  ///< 98th percentile of the disparities

  // False if too few blocks match. The thresholds separate good pairs from swapped, moved and
  // rotated pairs: see tests/rig/test_pairinspector.cpp.
  bool vertical_known() const noexcept;  ///< the vertical figures are meaningful
  bool is_swapped() const noexcept;
  bool is_unrectified() const noexcept;
  bool exceeds_range() const noexcept;  ///< disparities are above or below the range
  bool is_unequally_exposed() const noexcept;
};

}  // namespace cudavision::rig
