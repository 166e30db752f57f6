// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/core/view.h"
#include "cuda/pixels/luminance.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/sgmstereo/rig/geometry/exposure.h"
#include "gst/sgmstereo/rig/geometry/picturepatch.h"
#include "gst/sgmstereo/rig/geometry/repetition.h"

/// Checks whether a pair suits stereo matching: rectified, not swapped, disparities in the range.
/// Runs on the CPU, on few places of the pictures.
namespace cudavision::rig {

/// A block that both pictures show: the positions of its centre, in pixels.
struct MatchedBlock {
  double left_x, left_y, right_x, right_y;
};

/// The figures of an inspected pair. SgmStereo assumes that a point is in the same row of both
/// pictures. Blocks are also searched in other rows, to show why a map has few known pixels.
struct PairFigures {
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
  double vertical_offset =
      0;  ///< median of (row in the right picture − row in the left), in pixels
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

/// Computes the figures of pairs of one size. Only one thread may use it at a time, but it uses all
/// cores: 2 to 7 ms of CPU time for pairs that can be matched, and 5 to 25 ms for others, plus
/// repetition_of(). (Measured for 450×375 to 1920×1080, 64 to 256 disparities, two busy cores.)
class PairInspector {
 public:
  PairInspector(const PlaneSize& size, const sgm::Config& config);

  /// All arguments are in host memory. map holds disparities in disparity_scale(parameters), in
  /// rows of 2·width bytes, best before holes are filled.
  ///
  /// Blocks have 16×9 pixels. In each cell of a grid over the left picture, the best of nine
  /// candidates is used: its structure tensor has the largest smallest eigenvalue, which must be at
  /// least 25 per pixel. The mean of the 7×7 pixels around each pixel is subtracted, and
  /// differences are clipped to ±40 levels of 8 bits. If the contrasts of the pictures differ by a
  /// quarter or more, differences with less contrast are first multiplied by the ratio, at most 8.
  /// Blocks are compared by sums of absolute differences. A match is far better than any other if
  /// its sum is below 0.8 times all sums more than 2 pixels away.
  PairFigures inspect(const SamplePlane& left, const SamplePlane& right,
                      View<const std::uint8_t> map, const sgm::Parameters& parameters);

 private:
  struct Place {
    int x, y;
  };
  struct Match;
  /// Differences of columns and rows, both ends included.
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
  const int minimum_;  ///< disparity searched
  const int largest_;  ///< disparity searched
  std::vector<Place> blocks_;
};

}  // namespace cudavision::rig
