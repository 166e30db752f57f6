// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "cuda/scenecut/scenecut.h"

namespace cudavision {

/// Detects scene cuts with the default threshold of cudahistequalize: more than a quarter of the
/// pixels change bins of the luminance histogram, or the change of the area means (scenecut.h) is
/// more than a quarter. For RGB above 8 bits, the histogram is of green; for 16-bit samples, of
/// their upper bytes. All functions and the destructor need the session's context.
class SceneCuts {
 public:
  SceneCuts(Device& device, const FrameLayout& layout);

  // Enqueue the comparison with the last frame, and the download of its result.
  void compare(const ConstFrame& frame);
  void read_back();
  /// Call this when the device has finished read_back().
  bool found_cut() const;
  void restart() noexcept { average_.restart(); }

 private:
  Device& device_;
  const FrameLayout histogram_layout_;
  histequalize::Histogram histogram_;
  Buffer counts_;
  scenecut::AreaMeans areas_;
  histogramaverage::HistogramAverage average_;
  Buffer host_status_;
};

}  // namespace cudavision
