// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histogramaverage/histogramaverage.h"

namespace cudavision {

/// Finds scene cuts, as cudahistequalize does by default: a frame begins a new scene if more than a
/// quarter of its pixels have moved to other bins of the luminance histogram since the frame
/// before. Red, green and blue of more than 8 bits are judged by green, and 16 bits by the upper
/// eight. All calls, the destructor included, are made in the session's context.
class SceneCuts {
 public:
  SceneCuts(Device& device, const FrameLayout& layout);

  /// Enqueues the comparison of a frame with the one before.
  void compare(const ConstFrame& frame);
  /// Returns true if the frame of the last compare(), which the device must have finished, begins a
  /// new scene.
  bool found_cut() const;
  /// The next frame is the first one.
  void restart() { average_.restart(); }

 private:
  Device& device_;
  const FrameLayout layout_;  ///< with the channels that are judged
  histequalize::Histogram histogram_;
  histogramaverage::HistogramAverage average_;
  Buffer counts_;
  Buffer host_status_;
};

}  // namespace cudavision
