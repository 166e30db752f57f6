// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/clahe/clahe.h"
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

namespace cudavision::test {

void defined_adaptive_equalization(const FrameLayout& layout, const clahe::Tiles& tiles,
                                   const clahe::Parameters& parameters, const ConstFrame& in,
                                   const Frame& out);

class DefinedSmoothedClahe : public DefinedSmoothing {
 public:
  void next(const FrameLayout& layout, const clahe::Tiles& tiles,
            const clahe::Parameters& parameters, const histogramaverage::Parameters& smoothing,
            const ConstFrame& in, const Frame& out);
};

}  // namespace cudavision::test
