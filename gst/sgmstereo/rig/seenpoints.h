// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "gst/sgmstereo/rig/geometry/mountfit.h"

namespace cudavision {

/// The points that inspected pairs have shown, those of the oldest pairs first. What is seen again
/// at the same place counts once, so that a still scene does not make a fit surer than one picture
/// of it can.
class SeenPoints {
 public:
  struct Seen {
    rig::MatchedPoint point;  ///< as the cameras see it without any correction
    int pair;                 ///< its number, from 0
  };

  /// Adds a pair. focal_length is that of the points' unit, in pixels.
  void add(const std::vector<rig::MatchedPoint>& points, double focal_length);
  void forget_before(int pair);
  void keep_last(std::size_t count);
  void clear() { seen_.clear(); }

  const std::vector<Seen>& seen() const noexcept { return seen_; }
  std::size_t size() const noexcept { return seen_.size(); }
  std::vector<rig::MatchedPoint> points() const;
  /// Returns how many pairs have been added so far.
  int pairs() const noexcept { return pairs_; }

 private:
  std::vector<Seen> seen_;
  int pairs_ = 0;
};

}  // namespace cudavision
