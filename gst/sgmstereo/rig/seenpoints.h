// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "gst/sgmstereo/rig/geometry/mountfit.h"

namespace cudavision {

/// The points of inspected pairs, oldest first. A new point replaces older points at its position.
class SeenPoints {
 public:
  struct Seen {
    rig::MatchedPoint point;  ///< positions in the uncorrected pictures
    int pair;                 ///< number of the point's pair, from 0
  };

  /// Points are in focal lengths. `focal_length` is in pixels.
  void add(const std::vector<rig::MatchedPoint>& points, double focal_length) {
    const auto is_near = [&](double a, double b, double pixels) {
      return std::abs(a - b) * focal_length < pixels;
    };
    std::erase_if(seen_, [&](const Seen& old) {
      return std::any_of(points.begin(), points.end(), [&](const rig::MatchedPoint& its) {
        return is_near(its.left_x, old.point.left_x, 0.5) &&
               is_near(its.left_y, old.point.left_y, 0.5) &&
               is_near(its.right_x, old.point.right_x, 1.5) &&
               is_near(its.right_y, old.point.right_y, 1.5);
      });
    });
    for (const rig::MatchedPoint& point : points)
      seen_.push_back({point, pairs_});
    ++pairs_;
  }
  void forget_before(int pair) {
    std::erase_if(seen_, [&](const Seen& seen) { return seen.pair < pair; });
  }
  void keep_last(std::size_t count) {
    if (seen_.size() > count)
      seen_.erase(seen_.begin(), seen_.end() - static_cast<std::ptrdiff_t>(count));
  }
  void clear() { seen_.clear(); }

  const std::vector<Seen>& seen() const noexcept { return seen_; }
  std::size_t size() const noexcept { return seen_.size(); }
  std::vector<rig::MatchedPoint> points() const {
    std::vector<rig::MatchedPoint> all;
    for (const Seen& seen : seen_)
      all.push_back(seen.point);
    return all;
  }
  int pairs() const noexcept { return pairs_; }

 private:
  std::vector<Seen> seen_;
  int pairs_ = 0;
};

}  // namespace cudavision
