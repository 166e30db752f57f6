// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/regions/selection.h"

namespace cudavision::regions {

/// Pixels [begin, end) of a row.
struct Span {
  int begin, end;
};

/// The weights of the pixels of a frame, row by row, for the CPU backends.
class RowWeights {
 public:
  explicit RowWeights(int width) : width_(width) {}

  void set(const Parameters& parameters, const RegionList& regions);

  /// Computes the weights of a row of pixels. Returns a span outside of which they are 0 and have
  /// not been written. Several threads may call this at a time.
  Span find(int y, std::uint16_t* weights) const;

 private:
  int width_;
  Shape shape_ = Shape::rectangle;
  int feather_ = 0;
  bool invert_ = false;
  RegionList regions_;
};

}  // namespace cudavision::regions
