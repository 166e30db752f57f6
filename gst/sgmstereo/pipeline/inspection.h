// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/base/devicemessages.h"
#include "gst/core/frameinfo.h"

/// Inspects a pair now and then, and posts what the camera rig finds: an element message with the
/// figures, and warnings with the remedy. Only the aggregating thread may call these functions.
namespace cudavision {

struct StereoStream;

/// Selects the pairs that are inspected: the first one, then the first one of each further
/// interval; of pairs without running times, every 30th.
class InspectionInterval {
 public:
  /// None if interval is 0.
  bool selects(const FrameTimes& times, GstClockTime interval);
  void reset() { *this = InspectionInterval(); }

 private:
  static constexpr int untimed_pairs = 30;

  FrameInterval interval_;
  int untimed_ = untimed_pairs - 1;  ///< since the last selected pair
};

/// Inspects a pair that is complete, and posts the result. docs/elements/cudasgmstereo.md lists the
/// fields of the element message.
void stereo_inspect_pair(StereoStream& stream, const FrameTimes& times);

/// Call this at the end of a stream. If it had a single inspected pair, posts the warnings that no
/// other pair can confirm any more.
void stereo_end_inspections(StereoStream& stream);

}  // namespace cudavision
