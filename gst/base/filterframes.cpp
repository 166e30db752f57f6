// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/filterframes.h"

#include <gst/video/gstvideometa.h>

#include "gst/memory/mappedbuffer.h"

namespace cudavision {
namespace {

// True if the planes lie where the caps imply.
bool has_default_layout(const FrameFormat& format, GstBuffer* buffer) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  for (int p = 0; meta && p < format.storage.frame.plane_count; ++p)
    if (meta->offset[p] != format.offset[p] || meta->stride[p] != format.stride[p])
      return false;
  return gst_buffer_get_size(buffer) == format.size;
}

}  // namespace

FrameInFlight::FrameInFlight(FrameMapper& mapper, GstBuffer* in, bool kept)
    : kept_(kept ? gst_buffer_ref(in) : nullptr), input_(mapper, in) {}

void FrameInFlight::complete() {
  if (!waits_)
    return;
  if (output_) {
    output_->complete();
    input_.completed();
  } else {
    input_.complete();
  }
}

FilterFrames::FilterFrames(GstCudaVisionFilter* self, const DeviceSession& session,
                           const FrameFormat& in, const FrameFormat& out, bool same_caps,
                           std::size_t most)
    : self_(self), device_(session.device()), same_caps_(same_caps) {
  const FrameQueues queues = most > 1 ? session.queues() : FrameQueues(device_);
  const CudaContext context = session.context();
  lanes_.reserve(most);  // so that no lane is lost if there is no memory for its pointer
  for (std::size_t i = 0; i < most; ++i)
    lanes_.push_back(std::unique_ptr<Lane>(new Lane{{queues, context, session.page_locks(), in},
                                                    {queues, context, session.page_locks(), out}}));
}

bool FilterFrames::may_reuse(GstBuffer* buffer) const {
  if (!same_caps_ || gst_buffer_n_memory(buffer) == 0)
    return false;
  const bool cuda = cuda_memory_of(buffer) != nullptr;
  if (cuda != out().cuda_memory)
    return false;
  if (!cuda && !padding_allowed_)
    return has_default_layout(out(), buffer);
  MappedBuffer::require_whole_frame(buffer, in());
  return true;
}

void FilterFrames::process(const ConstFrame& in, const Frame* out, const FrameInfo& info) {
  class_of(self_)->process(self_, in, out, info);
}

void FilterFrames::copy(const ConstFrame& in, const Frame& out) {
  for (int p = 0; p < this->in().layout.plane_count; ++p)
    device_.copy(in.planes[p], out.planes[p]);
}

bool FilterFrames::must_wait_for(const FrameInFlight& frame) const {
  const bool can_be_handed_on =
      frame.input_.can_be_handed_on() && (!frame.output_ || frame.output_->can_be_handed_on());
  return !can_be_handed_on ||
         (class_of(self_)->needs_frame_done && class_of(self_)->needs_frame_done(self_));
}

void FilterFrames::end(FrameInFlight& frame) {
  frame.waits_ = must_wait_for(frame);
  if (frame.waits_) {
    frame.output_ ? frame.output_->end() : frame.input_.end();
    return;
  }
  frame.input_.hand_on();
  if (frame.output_)
    frame.output_->hand_on();
}

std::unique_ptr<FrameInFlight> FilterFrames::start(GstBuffer* in, GstBuffer* out, FrameWork work,
                                                   const FrameInfo& info) {
  Lane& lane = *lanes_[next_];
  next_ = (next_ + 1) % lanes_.size();
  // A reference would make the buffer read-only, which goes downstream itself if in is out.
  std::unique_ptr<FrameInFlight> frame(new FrameInFlight(lane.input, in, in != out));
  const ConstFrame& input = frame->input_.frame();
  if (in == out) {
    process(input, nullptr, info);
    end(*frame);
    return frame;
  }
  // Non-video peers take the payload size from the buffer, so trim what a pool gave in excess.
  if (!this->out().is_video() && gst_buffer_get_size(out) > this->out().size)
    gst_buffer_set_size(out, static_cast<gssize>(this->out().size));
  FrameMapper::Output& output = frame->output_.emplace(lane.output, out);
  if (work == FrameWork::transform) {
    process(input, &output.frame(), info);
  } else {
    copy(input, output.frame());
    if (work == FrameWork::inspect)
      process(input, nullptr, info);
  }
  end(*frame);
  return frame;
}

}  // namespace cudavision
