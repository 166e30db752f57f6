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

/// Tells from a pair of pictures and its map whether the pair is what stereo matching needs:
/// rectified, not swapped, with all disparities in the range that is searched. Runs on the CPU, on
/// few places of the pictures, whatever device matches them.
namespace cudavision::rig {

/// A block that both pictures show: the places of its centre, in pixels.
struct MatchedBlock {
  double left_x, left_y, right_x, right_y;
};

/// The figures of one inspected pair. The matching of SgmStereo supposes that a point lies in the
/// same row of both pictures; the blocks below are searched in other rows as well, so that they
/// tell why a map has few known pixels.
struct PairFigures {
  Exposure left, right;  ///< of the pictures, estimated from a grid of places

  // These figures describe the map.
  double known = 0;       ///< share of the pixels whose disparity is known
  double at_end = 0;      ///< of these, the share within a pixel of the largest disparity searched
  Repetition repetition;  ///< of the known pixels

  // These describe the blocks of the left picture that have texture in both directions.
  int places = 0;        ///< where such blocks were looked for; few if the picture is small
  int blocks = 0;        ///< how many were compared; few or none if the picture is small or plain
  double agreement = 0;  ///< share whose best match in the right picture matches them best, too
  double matched = 0;    ///< share that agree, and whose best match is far better than any other

  // These describe the matched blocks.
  double vertical_offset =
      0;  ///< median of (row in the right picture − row in the left), in pixels
  double vertical_spread = 0;  ///< the difference of that number's upper and lower quartile

  /// The blocks, row by row, without those whose best match lies in the first or the last of the
  /// rows that were searched, because a better one may lie beyond.
  std::vector<MatchedBlock> matches;

  /// Share of the blocks that are matched if the pictures are exchanged. It is only measured if
  /// fewer than half are matched as they are.
  double matched_if_swapped = 0;

  // These describe the blocks that match when a larger range of disparities is searched.
  double above_range = 0;     ///< share whose disparity is larger than those searched
  double below_range = 0;     ///< share whose disparity is smaller
  int min_disparity = 0;      ///< all but a few blocks have this disparity or a larger one
  int largest_disparity = 0;  ///< and this one or a smaller one

  // Conclusions. Each of them is false if too few blocks were matched to tell. The thresholds lie
  // between the figures of good pairs and those of the same pairs swapped, moved and rotated
  // (tests/rig/test_pairinspector.cpp prints both).
  bool vertical_known() const noexcept;  ///< true if the vertical figures mean something
  bool is_swapped() const noexcept;
  bool is_unrectified() const noexcept;
  bool exceeds_range() const noexcept;  ///< disparities lie above or below the range
  /// One picture is far brighter than the other.
  bool is_unequally_exposed() const noexcept;
};

/// Takes the figures of pairs of one size. Only one thread may use it at a time, but it works on
/// all cores: 2 to 7 ms of CPU time for a pair that can be matched and 5 to 25 ms for one that
/// cannot, besides repetition_of() (450×375 to 1920×1080, 64 to 256 disparities, two busy cores).
class PairInspector {
 public:
  /// The pictures have this size and depth, and are matched with this range of disparities.
  PairInspector(const PlaneSize& size, const sgm::Config& config);

  /// All arguments are in host memory. map holds disparities as disparity_scale(parameters) says,
  /// in rows of 2·width bytes, best before holes are filled.
  ///
  /// Blocks are 16×9 pixels, the one of nine with the smallest eigenvalue of the structure tensor
  /// largest in each cell of a grid over the left picture, if that is at least 25 per pixel. They
  /// are compared by the sum of absolute differences, after the mean of the 7×7 pixels around each
  /// pixel has been subtracted and the rest clipped to ±40 levels of 8 bits. If the contrasts of
  /// the pictures differ by a quarter or more, as those of unequal exposures do, the rest in the
  /// picture with less contrast is first multiplied by their ratio, at most 8. A match is far
  /// better than any other if its sum is less than 0.8 times that of all blocks more than 2 pixels
  /// away.
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
