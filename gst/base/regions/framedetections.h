// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "gst/core/scoped.h"

/// The objects that detectors have found in a frame.
namespace cudavision {

/// A label and a box in pixels, which may be partly or wholly outside of the frame. Width and
/// height may be 0 or, from GstAnalytics, negative; the box is then empty.
struct Detection {
  gint64 x, y, width, height;
  GQuark label;
  gint id;                ///< the id in the ROI meta or in the GstAnalyticsRelationMeta
  bool in_analytics;      ///< found in GstAnalytics; otherwise in a GstVideoRegionOfInterestMeta
  double confidence = 1;  ///< from 0 to 1; 1 if the detector reports no confidence
  int angle = 0;          ///< clockwise rotation of the box, in 1/65536 turn
};

/// A region of a mask: all pixels of the mask with one id.
struct MaskRegion {
  guint id;
  bool classified = false;  ///< the region has a label
  GQuark label = 0;
  double confidence = 1;  ///< as in Detection
};

/// An image of region ids, and the rectangle of the frame that it covers.
struct DetectedMask {
  OwnedBuffer picture;
  gint64 x, y, width, height;
  std::size_t first, count;  ///< range of its regions in FrameDetections::regions
};

struct FrameDetections {
  std::vector<Detection> objects;
  std::vector<DetectedMask> masks;
  std::vector<MaskRegion> regions;  ///< the regions of all masks
  /// Pairs of an index in `objects` and an index in `masks` that a detector has related.
  std::vector<std::pair<std::size_t, std::size_t>> relations;
};

/// Collects the frame's ROI metas and, with GStreamer ≥ 1.24, GstAnalytics detections.
/// GStreamer ≥ 1.26 adds angles, and masks if `masks` is true.
/// Replaces the contents of `found`.
void find_detections(GstBuffer* frame, bool masks, FrameDetections& found);

}  // namespace cudavision
