// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/regions/regions.h"
#include "gst/base/regions/regionsettings.h"

namespace cudavision {

/// Explains in one warning why no frame since the start had a region, although the settings ask for
/// regions. Rectangles outside of the frame are reported at once. If no label or confidence
/// matches, or if there are no metas, the objects may not be in view yet, so the warning waits for
/// 5 s of frames. If a shorter stream ends, labels and confidences are reported then.
class RegionWarning {
 public:
  /// Call this if a frame has a region. There will be no warning.
  void saw_region() noexcept { done_ = true; }
  /// Call this for a meta with a label that region-types does not list.
  void saw_other_label(GQuark label);
  /// Call this for a detection below region-confidence.
  void saw_confidence(double confidence) noexcept {
    largest_confidence_ = std::max(largest_confidence_, confidence);
  }
  /// Call this for a frame without a region. `elapsed` is the time since the previous frame. The
  /// rectangles from `first` on are empty or outside of the frame.
  void saw_none(const GstVideoInfo& video, const RegionSettings& settings,
                const regions::Parameters& parameters, int first, GstClockTime elapsed);
  void end();  ///< call this when the stream ends

  /// Posts the warning, if any, once.
  void post(GstElement* element);

 private:
  void explain(std::string reason);

  bool done_ = false;  ///< the warning exists, or is not needed
  GstClockTime waited_ = 0;
  std::vector<GQuark> other_labels_;
  double largest_confidence_ = -1;  ///< maximum among detections below region-confidence
  RegionSettings settings_;         ///< settings at the last frame without a region
  std::string warning_;             ///< the text of a warning that is not posted yet
};

}  // namespace cudavision
