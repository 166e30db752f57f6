// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The state that the parts of GstCudaVisionFilter share: gstcudavisionfilter.cpp, which has its
// properties, states, caps and pools, filterframes.cpp, which has the path of a frame, and
// filterevents.cpp, which has its events and queries.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gst/base/devicesession.h"
#include "gst/base/filter/gstcudavisionfilter.h"
#include "gst/base/regions/regionfinder.h"
#include "gst/flight/framepusher.h"

namespace cudavision {

/// The properties of GstCudaVisionFilter.
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
  // The formats of the frames, while the caps are known.
  const FrameFormat& in() const { return slots->input_format(0); }
  const FrameFormat& out() const { return slots->output_format(0); }

  FilterSettings settings;  ///< under the object lock
  DeviceSession session;

  // The next two are under the object lock.
  GstClockTime buffered = 0;  ///< duration of the frames that may wait in the element, or NONE
  GstClockTime latency = 0;   ///< of latency_frames frames

  GstPadActivateModeFunction activate_src_of_parent = nullptr;  ///< that of GstBaseTransform

  std::atomic<bool> frame_failed{false};  ///< the work on a frame in flight has failed
  std::atomic<guint64> pushed{0};         ///< frames since the start or the last flush

  /// Not started if each frame goes downstream before the next starts.
  const std::shared_ptr<FramePusher> pusher;

  // The following belong to the streaming thread.
  std::size_t requested_in_flight = 0;  ///< the property at the start
  bool skipped = false;                 ///< QoS has dropped the last frame
  bool reports = false;                 ///< frame_done() posts messages
  std::optional<FrameSlotPool> slots;   ///< set while the caps are known
  bool same_caps = false;               ///< on both sides
  /// Downstream understands GstVideoMeta, so that planes need not lie where the caps imply.
  bool padding_allowed = false;
  bool overlaps = false;   ///< the current frame will be in flight beside others
  PendingGpuWork started;  ///< what transform() has enqueued then, for push_frame()
  /// Why the last caps were refused, if they were; upstream may send them again.
  std::optional<std::string> refusal;
  bool device_failed = false;  ///< that was because of the device

  std::size_t latency_frames = 0;            ///< how many frames later each one is pushed
  GstFlowReturn pending_flow = GST_FLOW_OK;  ///< of push_pending(), for the next frame's answer

  FrameInfo info;                      ///< of the current frame
  bool missing = false;                ///< the current frame is not there
  const ConstFrame* stored = nullptr;  ///< the current frame's pixels, if its buffer has none
  FrameAction action = FrameAction::nothing;
  RegionFinder regions;  ///< for elements that process regions only
};

inline FilterState& state_of(gpointer self) {
  return *filter(self)->state;
}

inline GstDebugCategory* category_of(gpointer self) {
  return class_of(self)->debug_category;
}

/// Returns GstBaseTransform's virtual functions.
GstBaseTransformClass* filter_parent_class();

/// Builds the operation for known formats in the session's context, and frees the one before. Posts
/// a LATENCY message if the latency has changed, so no context may be current.
void configure_filter(gpointer self, const FrameFormat& in, const FrameFormat& out, bool same_caps);
/// Frees everything that lives in the session's context.
void release_filter(gpointer self);
/// Waits until all frames have gone downstream and the device has finished them, and ends what
/// spans several of them. Whoever gets a frame may stop the element, so its state may be gone.
void drain_filter(gpointer self);

/// Lets change() give the session another device while the caps are known. Everything is freed
/// before, and built again for that device. Does nothing if the element is stopped meanwhile.
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

/// Waits until all frames have gone downstream. If the work on one has failed, gives up what is
/// still to come of it and of earlier frames, and returns false; its error has been posted.
bool wait_for_frames(gpointer self);

/// Calls the virtual function. Its flow return is the answer to the next frame.
void push_pending(gpointer self);

/// Completes a frame that was in flight, see FramePusher::Complete.
OwnedBuffer complete_frame(gpointer self, FramePusher::Frame frame);

/// Sets the virtual functions of filterframes.cpp.
void install_frames(GstBaseTransformClass* transform_class);
/// Sets the virtual functions of filterevents.cpp.
void install_events(GstBaseTransformClass* transform_class);

}  // namespace cudavision
