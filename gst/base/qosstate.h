// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/core/frameinfo.h"

namespace cudavision {

/// Keeps what downstream reports about lateness in QOS events, and decides which frames are skipped
/// because of it. This class is for aggregators, because GstBaseTransform has such code of its own.
/// All calls are made under the element's object lock.
class QosState {
 public:
  void reset() { *this = QosState(); }
  void forget_request() { earliest_ = GST_CLOCK_TIME_NONE; }

  /// Stores the contents of a QOS event from downstream.
  void take(GstEvent* event);
  /// Returns true if a frame with this running time would be too late. Counts the frame as skipped
  /// or made.
  bool skips(GstClockTime running_time);
  /// Makes the QOS message for the frame that skips() has just rejected.
  GstMessage* message(GstElement* element, const FrameTimes& times) const;

 private:
  GstClockTime earliest_ = GST_CLOCK_TIME_NONE;  ///< frames up to this running time are too late
  gdouble proportion_ = 1;
  guint64 made_ = 0;
  guint64 skipped_ = 0;
};

}  // namespace cudavision
