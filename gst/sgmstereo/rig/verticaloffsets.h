// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>

#include "gst/sgmstereo/rig/geometry/pairinspector.h"

namespace cudavision {

/// The vertical offsets of the last inspected pairs of a stream. Those of cameras that are not
/// rectified stay the same, and a blow to the cameras changes them once. If one camera takes its
/// pictures later than the other, they change again and again while something moves.
class VerticalOffsets {
 public:
  void reset() { *this = VerticalOffsets(); }
  /// The next offsets do not continue those before, because the pictures are rectified otherwise.
  void begin_anew() { count_ = 0; }
  /// Adds a pair, unless its offset is not known.
  void add(const rig::PairFigures& figures);

  /// True if the offsets have changed at least twice. Stays true until reset().
  bool vary() const noexcept { return vary_; }
  /// True if the offset of the last pair is that of the one before.
  bool is_steady() const;

  // In rows of the right picture below those of the left one. There must be a pair.
  double min() const;
  double max() const;

 private:
  struct Offset {
    double rows;
    double spread;
    bool unrectified;
  };
  static constexpr std::size_t max_pairs = 8;

  static bool differ(const Offset& a, const Offset& b);

  std::array<Offset, max_pairs> last_{};  ///< the first `count_` count, the oldest first
  std::size_t count_ = 0;
  bool vary_ = false;
};

}  // namespace cudavision
