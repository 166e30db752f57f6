// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "gst/sgmstereo/rig/geometry/pairfigures.h"

namespace cudavision {

/// The vertical offsets of the last inspected pairs of a stream. Unrectified cameras have constant
/// offsets, and a blow changes them once. If one camera takes its pictures later than the other,
/// offsets keep changing while something moves.
class VerticalOffsets {
 public:
  /// Call this if the rectification changes, because later offsets are not comparable.
  void begin_anew() { last_.clear(); }
  void add(const rig::PairFigures& figures);

  /// True if the offsets have changed at least twice. Stays true.
  bool vary() const noexcept { return vary_; }
  /// True if the last two offsets agree.
  bool is_steady() const;

  struct Range {
    double min = 0, max = 0;
  };
  /// How many rows the right picture is below the left picture.
  Range range() const;

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
