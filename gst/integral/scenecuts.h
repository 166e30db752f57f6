// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histogramaverage/histogramaverage.h"

namespace cudavision {

/// Finds scene cuts, as cudahistequalize does by default: a frame begins a new scene if more than a
/// quarter of its pixels have moved to other bins of the luminance histogram since the frame
/// before. Red, green and blue of more than 8 bits are judged by green. All calls, the destructor
/// included, are made in the session's context.
class SceneCuts {
 public:
  SceneCuts(Device& device, const FrameLayout& layout);

  /// Returns true if the frame begins a new scene. Waits for the device, because the host decides
  /// which frames are searched.
  bool begins_scene(const ConstFrame& frame);
  /// The next frame is the first one.
  void restart() { average_.restart(); }

 private:
  Device& device_;
  const FrameLayout layout_;  ///< with the channels that are judged
  histequalize::Histogram histogram_;
  histogramaverage::HistogramAverage average_;
  Buffer counts_;
  Buffer host_status_;
  std::unique_ptr<Event> arrived_;
};

}  // namespace cudavision
