// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstaggregator.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "gst/base/caps.h"
#include "gst/base/devicesession.h"
#include "gst/base/properties.h"
#include "gst/base/qosstate.h"
#include "gst/base/videoformat.h"
#include "gst/sgmstereo/packedframes.h"
#include "gst/sgmstereo/stereosettings.h"
#include "gst/sgmstereo/stereowork.h"
#include "gst/sgmstereo/unlinkedpad.h"

namespace cudavision {

/// One of the sink pads.
struct StereoInput {
  GstAggregatorPad* pad = nullptr;

  // Under the object lock.
  GstCaps* caps = nullptr;   ///< the last that arrived; those in force may still be on their way
  guint64 dropped = 0;       ///< frames without a partner since the start
  std::string unacceptable;  ///< what was wrong with the last caps that were refused

  // The aggregating thread's.
  Caps in_force;
  std::optional<FrameFormat> format;
};

/// What a cudasgmstereo owns.
struct StereoState {
  explicit StereoState(GstElement* element) : session(element) {}

  DeviceSession session;
  StereoInput left, right;

  // Under the object lock.
  StereoSettings settings;
  std::optional<StereoSettings> started;  ///< the settings at the last start; none before it
  QosState lateness;

  // The streaming thread's of sink_left.
  std::optional<UnlinkedStream> unlinked;  ///< what sink_right hears while nothing is linked to it

  std::atomic<bool> arrives_packed{false};  ///< by the last caps that arrived on sink_left

  LinkAlarm alarm;
  std::atomic<bool> flushed{false};  ///< sink_left was, and its next segment has not come yet

  // From here on the aggregating thread's.
  FramePacking packing;
  std::optional<FrameFormat> out;
  std::unique_ptr<StereoWork> work;  ///< from the first pair of frames of these formats on
  SettingsGuard rule;
  bool discont = true;     ///< the next output does not follow the last one
  bool announced = false;  ///< downstream has the segment
  /// Downstream has been told of the end before the base class knows of it, and would lose new
  /// caps.
  bool ended = false;
  bool renegotiate = false;  ///< as soon as that is over
};

}  // namespace cudavision

struct GstCudaSgmStereo {
  GstAggregator parent;
  cudavision::StereoState* state;
};

namespace cudavision {

inline StereoState& stereo_state(gpointer self) {
  return *static_cast<GstCudaSgmStereo*>(self)->state;
}

/// The settings as they are now, but for those that wait for the next start.
StereoSettings stereo_settings(gpointer self);

/// Whether frames may lie in CUDA memory.
bool stereo_takes_cuda(gpointer self);

}  // namespace cudavision
