// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/frameinfo.h"

namespace cudavision {

/// What downstream says about being late (QoS), and what follows for frames that are not made yet.
/// All calls are under the element's object lock.
class QosState {
 public:
  void reset() { *this = QosState(); }
  void forget_request() { earliest_ = GST_CLOCK_TIME_NONE; }

  /// A QOS event from downstream.
  void take(GstEvent* event);
  /// Whether a frame for that running time would come too late. Counts it as skipped or made.
  bool skips(GstClockTime running_time);
  /// The message that announces the frame which skips() has just spoken of.
  GstMessage* message(GstElement* element, const FrameTimes& times) const;

 private:
  GstClockTime earliest_ = GST_CLOCK_TIME_NONE;  ///< running time from which frames are of use
  gdouble proportion_ = 1;
  guint64 made_ = 0;
  guint64 skipped_ = 0;
};

}  // namespace cudavision
