// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/base/devicesession.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/memory/framemapper.h"

namespace cudavision {

/// Carries frames between a filter's buffers and its process(), once the caps are known.
class FilterFrames {
 public:
  /// All calls, this one and the destructor included, are made in the session's context.
  FilterFrames(GstCudaVisionFilter* self, const DeviceSession& session, const FrameFormat& in,
               const FrameFormat& out, bool same_caps);

  const FrameFormat& in() const noexcept { return input_.format(); }
  const FrameFormat& out() const noexcept { return output_.format(); }
  bool same_caps() const noexcept { return same_caps_; }

  /// Call this with true if downstream understands GstVideoMeta. Planes then need not lie where the
  /// caps imply.
  void allow_padding(bool allow) noexcept { padding_allowed_ = allow; }
  /// True if an unchanged frame may go downstream in its own buffer: downstream must have agreed to
  /// that buffer's kind of memory and to its strides. Throws ElementError if downstream would then
  /// get less than a whole frame.
  bool may_reuse(GstBuffer* buffer) const;

  /// Shows a frame to process(). The device has finished reading when this returns, because the
  /// buffer goes downstream, where it may be written to.
  void inspect(GstBuffer* in, const FrameInfo& info);
  /// Makes the output frame with process(), or copies the input and lets process() inspect it. The
  /// device has finished the frame when this returns.
  void compute(GstBuffer* in, GstBuffer* out, FrameWork work, const FrameInfo& info);

 private:
  void process(const ConstFrame& in, const Frame* out, const FrameInfo& info);
  void copy(const ConstFrame& in, const Frame& out);

  GstCudaVisionFilter* const self_;
  Device& device_;
  const bool same_caps_;
  bool padding_allowed_ = false;
  FrameMapper input_;
  FrameMapper output_;
};

}  // namespace cudavision
