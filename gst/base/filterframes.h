// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/base/devicesession.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/memory/framemapper.h"

namespace cudavision {

/// The frames of a filter whose caps are known: between buffers and the element's process().
class FilterFrames {
 public:
  /// In the session's context, like all of it; the destructor too.
  FilterFrames(GstCudaVisionFilter* self, const DeviceSession& session, const FrameFormat& in,
               const FrameFormat& out, bool same_caps);

  const FrameFormat& in() const noexcept { return input_.format(); }
  const FrameFormat& out() const noexcept { return output_.format(); }
  bool same_caps() const noexcept { return same_caps_; }

  /// Downstream understands GstVideoMeta, and so frames that do not lie as the caps alone have it.
  void allow_padding(bool allow) noexcept { padding_allowed_ = allow; }
  /// Whether a frame that stays as it is may go on as the very buffer that came: downstream must
  /// have agreed to its kind of memory and to its strides.
  bool may_hand_on(GstBuffer* buffer) const;

  /// Shows a frame to process(). Its buffer goes on, and whoever gets it may write to it: the
  /// device has seen it when this returns.
  void inspect(GstBuffer* in, const FrameInfo& info);
  /// Makes the output frame: by process(), or as a copy of the input that process() may inspect.
  /// The device has finished it when this returns.
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
