// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/clahe/clahe.h"
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

/// A second implementation of adaptive histogram equalisation, which extends the picture in memory,
/// works pixel by pixel, and shares no code with the one under test.
namespace cudavision::test {

/// Writes every byte of every row of out except chroma that is not copied.
void defined_adaptive_equalization(const FrameLayout& layout, const clahe::Tiles& tiles,
                                   const clahe::Parameters& parameters, const ConstFrame& in,
                                   const Frame& out);

/// Equalises the frames of a video with smoothing.
class DefinedSmoothedClahe : public DefinedSmoothing {
 public:
  /// Writes every byte of every row of out except chroma that is not copied.
  void next(const FrameLayout& layout, const clahe::Tiles& tiles,
            const clahe::Parameters& parameters, const histogramaverage::Parameters& smoothing,
            const ConstFrame& in, const Frame& out);
};

}  // namespace cudavision::test
