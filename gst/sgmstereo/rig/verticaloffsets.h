// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <utility>
#include <vector>

#include "gst/sgmstereo/rig/geometry/pairfigures.h"

namespace cudavision {

/// The vertical offsets of the last inspected pairs. Unrectified cameras have constant offsets, a
/// shock changes the offsets once, and motion keeps changing them if cameras are unsynchronized.
class VerticalOffsets {
 public:
  /// Call this if the rectification changes.
  void clear() { last_.clear(); }
  void add(const rig::PairFigures& figures);

  /// Returns true after two changes within the last pairs, if one of these pairs was unrectified.
  bool vary() const noexcept { return vary_; }
  /// Returns true unless the last two offsets differ.
  bool is_steady() const;

  /// Returns the extreme offsets in rows, positive if points are lower in the right picture.
  std::pair<double, double> range() const;

 private:
  struct Offset {
    double rows;
    double spread;
    bool unrectified;
  };
  static bool differ(const Offset& a, const Offset& b);

  std::vector<Offset> last_;  ///< the oldest first
  bool vary_ = false;
};

}  // namespace cudavision
