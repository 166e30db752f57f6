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
  double confidence = 1;  ///< 0 to 1; 1 if the detector gives none
  int angle = 0;          ///< by which the box is turned clockwise, in 1/65536 turn
};

/// Calls function for each GstVideoRegionOfInterestMeta of the frame and, if GStreamer has
/// GstAnalytics (from 1.24 on), for each object detection.
/// From 1.26 on, these have angles.
void for_each_detection(GstBuffer* frame, const std::function<void(const Detection&)>& function);

}  // namespace cudavision
