// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "gst/core/scoped.h"

/// The objects that detectors have found in a frame.
namespace cudavision {

/// A box in pixels, which may be partly or wholly outside of the frame, and the label of the
/// object. Width and height may be 0 or, from GstAnalytics, negative: the box is empty then.
struct Detection {
  gint64 x, y, width, height;
  GQuark label;
  gint id;                ///< of the meta, or of the detection in its GstAnalyticsRelationMeta
  bool in_analytics;      ///< false: a GstVideoRegionOfInterestMeta
  double confidence = 1;  ///< 0 to 1; 1 if the detector gives none
  int angle = 0;          ///< clockwise rotation of the box, in 1/65536 turn
};

/// A region of a mask: the pixels with an id.
struct MaskRegion {
  guint id;
  bool classified = false;  ///< has a label
  GQuark label = 0;
  double confidence = 1;  ///< as in Detection
};

/// A picture of region ids, and the part of the frame that it covers.
struct DetectedMask {
  OwnedBuffer picture;
  gint64 x, y, width, height;
  std::size_t first, count;  ///< of its regions
};

struct FrameDetections {
  std::vector<Detection> objects;
  std::vector<DetectedMask> masks;
  std::vector<MaskRegion> regions;  ///< of all masks
  /// The objects and the masks that a detector relates to each other, as their numbers.
  std::vector<std::pair<std::size_t, std::size_t>> relations;

  void clear();
};

/// Finds each GstVideoRegionOfInterestMeta of the frame and, if GStreamer has GstAnalytics (from
/// 1.24 on), then each object detection. From 1.26 on, these have angles, and there are masks,
/// which are only looked for if masks is true.
void find_detections(GstBuffer* frame, bool masks, FrameDetections& found);

}  // namespace cudavision
