// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "cuda/scenecut/scenecut.h"

namespace cudavision {

/// Finds scene cuts, as cudahistequalize does by default: a frame begins a new scene if more than a
/// quarter of its pixels have moved to other bins of the luminance histogram since the frame
/// before, or its areas change by more than a quarter (scenecut.h). In the histogram, red, green
/// and blue of more than 8 bits are judged by green, and 16 bits by the upper eight. The device
/// decides. All calls, the destructor included, are made in the session's context.
class SceneCuts {
 public:
  SceneCuts(Device& device, const FrameLayout& layout);

  /// Enqueues the comparison of a frame with the one before.
  void compare(const ConstFrame& frame);
  /// Enqueues what brings the result to the host.
  void read_back();
  /// Returns true if the frame begins a new scene, when the device has finished read_back().
  bool found_cut() const;
  /// The next frame is the first one.
  void restart() noexcept { average_.restart(); }

 private:
  /// judged: with the channels of the histogram.
  SceneCuts(Device& device, const FrameLayout& layout, const FrameLayout& judged);

  Device& device_;
  histequalize::Histogram histogram_;
  Buffer counts_;
  scenecut::AreaMeans areas_;
  histogramaverage::HistogramAverage average_;
  const int bins_;
  Buffer host_status_;
};

}  // namespace cudavision
