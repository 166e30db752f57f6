// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/regions/selection.h"

namespace cudavision::regions {

struct Span {
  int begin, end;
};

/// The weights of the pixels of a frame, row by row, for the CPU backends.
class RowWeights {
 public:
  explicit RowWeights(int width) : width_(width) {}

  void set(const Parameters& parameters, const RegionList& regions);

  /// Computes the weights of a row of pixels. Outside the returned span, they are 0 and have not
  /// been written. Several threads may call this at the same time.
  Span find(int y, std::uint16_t* weights) const;

 private:
  int width_;
  Shape shape_ = Shape::rectangle;
  int feather_ = 0;
  bool invert_ = false;
  RegionList regions_;
};

}  // namespace cudavision::regions
