// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>

/// The objects that a detector has found in a frame.
namespace cudavision {

/// A box in pixels, which may lie partly or wholly outside of the frame, with the label of what is
/// in it. Width and height may be 0 or, from GstAnalytics, negative: the box is empty then.
struct Detection {
  gint64 x, y, width, height;
  GQuark label;
  gint id;            ///< of the meta, or of the detection in its GstAnalyticsRelationMeta
  bool in_analytics;  ///< it is a detection of GstAnalytics
};

/// Calls function for each GstVideoRegionOfInterestMeta of the frame and then, if GStreamer has
/// GstAnalytics (from 1.24 on), for each object detection.
void for_each_detection(GstBuffer* frame, const std::function<void(const Detection&)>& function);

}  // namespace cudavision
