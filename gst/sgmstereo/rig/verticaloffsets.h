// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "gst/sgmstereo/rig/geometry/pairinspector.h"

namespace cudavision {

/// The vertical offsets of the last inspected pairs of a stream. Those of cameras that are not
/// rectified stay the same, and a blow to the cameras changes them once. If one camera takes its
/// pictures later than the other, they change again and again while something moves.
class VerticalOffsets {
 public:
  /// The next offsets do not continue those before, because the pictures are rectified otherwise.
  void begin_anew() { last_.clear(); }
  /// Adds a pair, unless its offset is not known.
  void add(const rig::PairFigures& figures);

  /// True if the offsets have changed at least twice. Stays true.
  bool vary() const noexcept { return vary_; }
  /// True if the offset of the last pair is that of the one before.
  bool is_steady() const;

  struct Range {
    double min = 0, max = 0;
  };
  /// In rows of the right picture below those of the left one.
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
