// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/regions/regions.h"
#include "gst/base/regions/regionsettings.h"

namespace cudavision {

/// Explains in one warning why no frame since the start had a region, although regions were asked
/// for. Rectangles that all lie outside of the frame can be nothing but a mistake. Other labels
/// than those of region-types, or no metas, may only mean that nothing has come into view yet, so
/// these are reported after 5 s of frames. At the end of the stream, labels are reported in any
/// case.
class RegionWarning {
 public:
  /// A frame has a region, so there is nothing to explain any more.
  void saw_region() noexcept { settled_ = true; }
  /// A meta has a label that region-types does not name.
  void saw_other_label(GQuark label);
  /// A detection is below region-confidence.
  void saw_confidence(double confidence) noexcept {
    largest_confidence_ = std::max(largest_confidence_, confidence);
  }
  /// A frame has no region. Those of its rectangles that could be one begin at `first`. elapsed is
  /// the time since the frame before.
  void saw_none(const GstVideoInfo& video, const RegionSettings& settings,
                const regions::Parameters& parameters, int first, GstClockTime elapsed);
  /// The stream ends.
  void end();

  /// Posts the warning once there is one.
  void post(GstElement* element);

 private:
  void explain(std::string reason);

  bool settled_ = false;  ///< there is a region, or the reason is known
  GstClockTime waited_ = 0;
  std::vector<GQuark> other_labels_;
  double largest_confidence_ = -1;  ///< of those below region-confidence
  RegionSettings settings_;         ///< of the last frame without a region
  std::string warning_;             ///< to be posted
};

}  // namespace cudavision
