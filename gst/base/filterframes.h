// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gst/base/devicesession.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/core/scoped.h"
#include "gst/memory/framemapper.h"

namespace cudavision {

/// A frame whose work is enqueued. It keeps the input buffer; whoever has the output buffer must
/// not touch it before the frame is complete. The destructor waits for the device as well. Both are
/// called in the session's context.
class FrameInFlight {
 public:
  /// True if the buffers may go elsewhere only when the device has finished. Otherwise whoever has
  /// them next uses them in the order of the streams that their memory carries.
  bool waits() const noexcept { return waits_; }
  /// Waits for the device if waits(), and brings the frame into the output buffer. Throws Error.
  void complete();

 private:
  friend class FilterFrames;
  /// Maps the input, and enqueues its upload. kept: holds a reference to the input.
  FrameInFlight(FrameMapper& mapper, GstBuffer* in, bool kept);

  OwnedBuffer kept_;
  FrameMapper::Input input_;
  std::optional<FrameMapper::Output> output_;
  bool waits_ = true;
};

/// Carries frames between a filter's buffers and its process(), once the caps are known. Up to
/// `most` frames may be in flight; with more than one, transfers and kernels of successive frames
/// overlap.
class FilterFrames {
 public:
  /// All calls, this one and the destructor included, are made in the session's context.
  FilterFrames(GstCudaVisionFilter* self, const DeviceSession& session, const FrameFormat& in,
               const FrameFormat& out, bool same_caps, std::size_t most);

  const FrameFormat& in() const noexcept { return lanes_.front()->input.format(); }
  const FrameFormat& out() const noexcept { return lanes_.front()->output.format(); }
  bool same_caps() const noexcept { return same_caps_; }

  /// Call this with true if downstream understands GstVideoMeta. Planes then need not lie where the
  /// caps imply.
  void allow_padding(bool allow) noexcept { padding_allowed_ = allow; }
  /// True if an unchanged frame may go downstream in its own buffer: downstream must have agreed to
  /// that buffer's kind of memory and to its strides. Throws ElementError if downstream would then
  /// get less than a whole frame.
  bool may_reuse(GstBuffer* buffer) const;

  /// Enqueues the work on a frame: process() makes the output frame, or the input is copied and
  /// process() inspects it, or it is only inspected if out is the same buffer. The frame before the
  /// last `most` − 1 ones must be complete.
  std::unique_ptr<FrameInFlight> start(GstBuffer* in, GstBuffer* out, FrameWork work,
                                       const FrameInfo& info);

 private:
  /// What a frame in flight needs for itself.
  struct Lane {
    FrameMapper input;
    FrameMapper output;
  };

  void process(const ConstFrame& in, const Frame* out, const FrameInfo& info);
  void copy(const ConstFrame& in, const Frame& out);
  bool must_wait_for(const FrameInFlight& frame) const;
  void end(FrameInFlight& frame);

  GstCudaVisionFilter* const self_;
  Device& device_;
  const bool same_caps_;
  bool padding_allowed_ = false;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t next_ = 0;  ///< lane
};

}  // namespace cudavision
