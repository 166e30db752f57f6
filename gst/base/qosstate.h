// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/core/frameinfo.h"

namespace cudavision {

/// QoS for aggregators; GstBaseTransform has its own. Decides from downstream's QOS events which
/// frames to skip. Call all functions under the element's object lock.
class QosState {
 public:
  void reset() { *this = QosState(); }
  void forget_request() { earliest_ = GST_CLOCK_TIME_NONE; }

  void take(GstEvent* event);
  /// Returns true if a frame with this running time would be late. Counts it as skipped or made.
  bool skips(GstClockTime running_time);
  /// Returns the QOS message for the last skipped frame.
  GstMessage* message(GstElement* element, const FrameTimes& times) const;

 private:
  GstClockTime earliest_ = GST_CLOCK_TIME_NONE;  ///< frames up to this running time are late
  gdouble proportion_ = 1;
  guint64 made_ = 0;
  guint64 skipped_ = 0;
};

}  // namespace cudavision
