// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/base/devicesession.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/flight/framelanes.h"

namespace cudavision {

/// Carries frames between a filter's buffers and its process(), once the caps are known.
class FilterFrames {
 public:
  /// Up to max_in_flight frames may be in flight. All calls, this one and the destructor included,
  /// are made in the session's context. `keeps_references`: store_reference() may be called.
  FilterFrames(GstCudaVisionFilter* self, const DeviceSession& session, const FrameFormat& in,
               const FrameFormat& out, bool same_caps, std::size_t max_in_flight,
               bool keeps_references);

  const FrameFormat& in() const noexcept { return input_lanes().input_format(0); }
  const FrameFormat& out() const noexcept { return lanes_.output_format(0); }
  bool same_caps() const noexcept { return same_caps_; }

  /// Call this with true if downstream understands GstVideoMeta. Planes then need not lie where the
  /// caps imply.
  void allow_padding(bool allow) noexcept { padding_allowed_ = allow; }
  /// True if an unchanged frame may go downstream in its own buffer: downstream must have agreed to
  /// that buffer's kind of memory and to its strides. Throws ElementError if downstream would then
  /// get less than a whole frame.
  bool may_reuse(GstBuffer* buffer) const;

  /// Enqueues the work on a frame: process() makes the output frame, or the input is copied and
  /// process() inspects it, or it is only inspected if out is the same buffer. See
  /// FrameLanes::map().
  DeviceWork start(GstBuffer* in, GstBuffer* out, FrameWork work, const FrameInfo& info);
  /// Enqueues storing a frame as a reference under a number. complete_arrival() must
  /// come before the next one.
  void store_reference(GstBuffer* in, guint64 number);
  /// Waits until the device has done so, whether or not earlier frames are still in flight. Returns
  /// true if that changes what has been made of an earlier frame since. Throws Error.
  bool complete_arrival();
  /// Enqueues the work on the frame of that number, which then makes the output frame, and
  /// completes the arrival of the last one.
  DeviceWork start_reference(guint64 number, GstBuffer* out, FrameWork work, const FrameInfo& info);
  /// See FrameLanes::finish().
  void finish() { lanes_.finish(); }

 private:
  FrameLanes& input_lanes() noexcept { return arrivals_ ? *arrivals_ : lanes_; }
  const FrameLanes& input_lanes() const noexcept { return arrivals_ ? *arrivals_ : lanes_; }
  void work_on(const ConstFrame& in, const Frame* out, FrameWork work, const FrameInfo& info);
  bool needs_frame_done() const;
  void process(const ConstFrame& in, const Frame* out, const FrameInfo& info);
  void copy(const ConstFrame& in, const Frame& out);

  GstCudaVisionFilter* const self_;
  Device& device_;
  const bool same_caps_;
  bool padding_allowed_ = false;
  FrameLanes lanes_;
  std::optional<FrameLanes> arrivals_;  ///< for inputs, if they become references
  DeviceWork arrival_;                  ///< of the last one, if it may not have ended
};

}  // namespace cudavision
