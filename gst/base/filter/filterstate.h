// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gst/base/devicesession.h"
#include "gst/base/filter/gstcudavisionfilter.h"
#include "gst/base/regions/regionfinder.h"
#include "gst/flight/framepusher.h"

/// State and functions that the files of GstCudaVisionFilter share: gstcudavisionfilter.cpp
/// (properties, states, caps, pools), filterframes.cpp and filterevents.cpp.
namespace cudavision {

struct FilterSettings : DeviceSettings {
  int frames_in_flight = 0;
};

struct FilterState {
  FilterState(GstElement* element, FramePusher::Complete complete)
      : session(element, settings),
        pusher(std::make_shared<FramePusher>(GST_BASE_TRANSFORM_SRC_PAD(element),
                                             std::move(complete))) {}
  ~FilterState() { pusher->stop(); }
  FilterState(const FilterState&) = delete;
  FilterState& operator=(const FilterState&) = delete;

  void forget_refusal() {
    refusal.reset();
    device_failed = false;
  }
  // Call the next two functions only while slots is set.
  const FrameFormat& in() const { return slots->input_format(0); }
  const FrameFormat& out() const { return slots->output_format(0); }

  FilterSettings settings;  ///< guarded by the object lock
  DeviceSession session;

  // The object lock guards the next two members.
  GstClockTime buffered = 0;  ///< maximum delay by earlier frames in flight, or NONE
  GstClockTime latency = 0;   ///< duration of latency_frames frames

  GstPadActivateModeFunction activate_src_of_parent = nullptr;  ///< GstBaseTransform's function

  std::atomic<bool> frame_failed{false};  ///< the work on a frame in flight has failed
  std::atomic<guint64> pushed{0};         ///< frames since the start or the last flush

  /// Started only if several frames may be in flight.
  const std::shared_ptr<FramePusher> pusher;

  // The members below belong to the streaming thread.
  std::size_t requested_in_flight = 0;  ///< the value of frames-in-flight at the start
  bool skipped = false;                 ///< QoS has dropped the last frame
  bool reports = false;                 ///< needs_frame_done() has returned true since the start
  std::optional<FrameSlotPool> slots;   ///< set while the caps are known
  bool same_caps = false;               ///< both pads have the same caps
  bool padding_allowed = false;         ///< downstream supports GstVideoMeta
  bool overlaps = false;                ///< pusher->started(), read once for each frame
  PendingGpuWork started;               ///< the work that transform() has enqueued, if `overlaps`
  /// The error for the last caps, if they were refused; upstream may send the same caps again.
  std::optional<std::string> refusal;
  bool device_failed = false;  ///< the device caused the refusal

  std::size_t latency_frames = 0;            ///< the number of frames by which output is delayed
  GstFlowReturn pending_flow = GST_FLOW_OK;  ///< result of push_pending(), for the next frame

  FrameInfo info;                      ///< data of the current frame
  bool missing = false;                ///< the current frame is a GAP buffer
  const ConstFrame* stored = nullptr;  ///< the current frame's pixels, if its buffer has none
  FrameAction action = FrameAction::nothing;
  RegionFinder regions;
};

inline FilterState& state_of(gpointer self) {
  return *filter(self)->state;
}

inline GstDebugCategory* category_of(gpointer self) {
  return class_of(self)->debug_category;
}

/// Returns the class structure of GstBaseTransform.
GstBaseTransformClass* filter_parent_class();

/// Replaces the operation. May post a LATENCY message, so no context may be current.
void configure_filter(gpointer self, const FrameFormat& in, const FrameFormat& out, bool same_caps);
/// Frees the operation and the frame slots, in the session's context.
void release_filter(gpointer self);
/// Pushes all frames, waits for the device, and ends the sequence of frames. Downstream may stop
/// the element meanwhile, which resets slots.
void drain_filter(gpointer self);

/// Calls drain_filter(), frees the operation, calls change(), which may change the session's
/// device, and configures the operation again. If the drain stops the element, does nothing else.
template <class Change>
void rebuild_filter(gpointer self, Change&& change) {
  drain_filter(self);
  const FilterState& state = state_of(self);
  if (!state.slots)
    return;
  const FrameFormat in = state.in(), out = state.out();
  release_filter(self);
  change();
  configure_filter(self, in, out, state.same_caps);
}

/// Waits until all frames are pushed. If a frame has failed, drops pending messages and returns
/// false; the error is already posted.
bool wait_for_frames(gpointer self);

/// Calls the element's push_pending(). The next frame returns the result.
void push_pending(gpointer self);

/// See FramePusher::Complete.
OwnedBuffer complete_frame(gpointer self, FramePusher::Frame frame);

// Install the virtual functions that filterframes.cpp and filterevents.cpp implement.
void install_frames(GstBaseTransformClass* transform_class);
void install_events(GstBaseTransformClass* transform_class);

}  // namespace cudavision
