// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/base/devicesession.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/flight/frameslotpool.h"

namespace cudavision {

/// Carries frames between a filter's buffers and its process(), once the caps are known.
class FilterFrames {
 public:
  /// Up to max_in_flight frames may be in flight. All calls, this one and the destructor included,
  /// are made in the session's context.
  FilterFrames(GstCudaVisionFilter* self, const DeviceSession& session, const FrameFormat& in,
               const FrameFormat& out, bool same_caps, std::size_t max_in_flight);

  const FrameFormat& in() const noexcept { return slots_.input_format(0); }
  const FrameFormat& out() const noexcept { return slots_.output_format(0); }
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
  /// FrameSlotPool::map(). stored: the input on the device, or nullptr if it is in its buffer.
  PendingGpuWork start(GstBuffer* in, const ConstFrame* stored, GstBuffer* out, FrameWork work,
                       const FrameInfo& info);
  /// See FrameSlotPool::finish().
  void finish() { slots_.finish(); }

 private:
  GstCudaVisionFilter* const self_;
  Device& device_;
  const bool same_caps_;
  bool padding_allowed_ = false;
  FrameSlotPool slots_;
};

}  // namespace cudavision
