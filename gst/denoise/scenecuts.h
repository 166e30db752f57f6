// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "cuda/scenecut/scenecut.h"

namespace cudavision {

/// Detects scene cuts like cudahistequalize's default: more than a quarter of the pixels change
/// bins of the luminance histogram, or areas change that much (scenecut.h). The histogram has the
/// green of RGB above 8 bits, and the upper 8 of 16 bits. All functions and the destructor need the
/// session's context.
class SceneCuts {
 public:
  SceneCuts(Device& device, const FrameLayout& layout);

  // These enqueue the comparison with the last frame, and the download of the result.
  void compare(const ConstFrame& frame);
  void read_back();
  /// Call this when the device has finished read_back().
  bool found_cut() const;
  void restart() noexcept { average_.restart(); }

 private:
  Device& device_;
  const FrameLayout judged_;  ///< the channels for the histogram
  histequalize::Histogram histogram_;
  Buffer counts_;
  scenecut::AreaMeans areas_;
  histogramaverage::HistogramAverage average_;
  Buffer host_status_;
};

}  // namespace cudavision
