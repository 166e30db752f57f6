// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/core/view.h"
#include "cuda/pixels/luminance.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/sgmstereo/rig/geometry/pairfigures.h"
#include "gst/sgmstereo/rig/geometry/picturepatch.h"

namespace cudavision::rig {

/// Computes PairFigures for pairs of one size from samples of the pictures, on all CPU cores. Only
/// one thread may use it at a time.
class PairInspector {
 public:
  PairInspector(const PlaneSize& size, const sgm::Config& config);

  /// All arguments are in host memory. `map` has disparities, scaled as disparity_scale(parameters)
  /// describes, in rows of 2·width bytes, preferably before holes are filled.
  ///
  /// Blocks have 16×9 pixels. A grid over the left picture has nine candidates in each cell. The
  /// block of a cell is the candidate whose structure tensor has the largest minimum eigenvalue, at
  /// least 25 per pixel with the gain of gain_for(). Blocks are compared by the sum of absolute
  /// differences of Patch values, which have this gain. A match is far better than others if its
  /// sum is below 0.8 times all sums more than 2 pixels away.
  PairFigures inspect(const SamplePlane& left, const SamplePlane& right,
                      View<const std::uint8_t> map, const sgm::Parameters& parameters);

 private:
  struct Position {
    int x, y;
  };
  struct Match;
  /// Offsets of columns and rows to search, both ends included.
  struct Window {
    int first_x, last_x, first_y, last_y;
  };

  void choose_blocks(const NormalizedPicture& left, PairFigures& figures);
  std::vector<Match> match_blocks(const NormalizedPicture& left, const NormalizedPicture& right,
                                  const Window& window) const;
  std::vector<Match> match_beyond_range(const NormalizedPicture& left,
                                        const NormalizedPicture& right, int row) const;
  void measure_rows(const std::vector<Match>& matches, PairFigures& figures) const;
  void measure_range(const std::vector<Match>& matches, PairFigures& figures) const;

  const PlaneSize size_;
  const int minimum_, largest_;  ///< smallest and largest disparity searched
  std::vector<Position> blocks_;
};

}  // namespace cudavision::rig
