// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "cuda/scenecut/scenecut.h"

namespace cudavision {

/// Finds scene cuts, as cudahistequalize does by default. A new scene begins if more than a quarter
/// of the pixels change bins in the luminance histogram, or if areas change that much (scenecut.h).
/// The histogram uses green for RGB above 8 bits, and the upper eight of 16 bits. The device
/// decides. All functions and the destructor need the session's context.
class SceneCuts {
 public:
  SceneCuts(Device& device, const FrameLayout& layout);

  /// Enqueues the comparison with the last frame.
  void compare(const ConstFrame& frame);
  void read_back();
  /// Call this when the device has finished read_back(). True if the frame begins a new scene.
  bool found_cut() const;
  void restart() noexcept { average_.restart(); }

 private:
  Device& device_;
  const FrameLayout judged_;  ///< has the channels for the histogram
  histequalize::Histogram histogram_;
  Buffer counts_;
  scenecut::AreaMeans areas_;
  histogramaverage::HistogramAverage average_;
  Buffer host_status_;
};

}  // namespace cudavision
