// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/filterframes.h"

#include <gst/video/gstvideometa.h>

#include <utility>

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

FilterFrames::FilterFrames(GstCudaVisionFilter* self, const DeviceSession& session,
                           const FrameFormat& in, const FrameFormat& out, bool same_caps,
                           std::size_t max_in_flight, bool keeps_references)
    : self_(self),
      device_(session.device()),
      same_caps_(same_caps),
      lanes_(session.queues(max_in_flight), session.context(), session.page_locks(),
             max_in_flight) {
  if (keeps_references)
    arrivals_.emplace(FrameQueues(session.arrivals()), session.context(), session.page_locks(), 1);
  input_lanes().set_input(0, in);
  lanes_.set_output(0, out);
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

void FilterFrames::store_reference(GstBuffer* in, guint64 number) {
  MappedFrames frames = arrivals_->map({in}, {});
  class_of(self_)->store_reference(self_, number, frames.input(0));
  arrival_ = std::move(frames).end(true);
}

bool FilterFrames::complete_arrival() {
  if (!arrival_)
    return false;
  std::move(arrival_).complete();
  return class_of(self_)->reference_ready(self_);
}

DeviceWork FilterFrames::start_reference(guint64 number, GstBuffer* out, FrameWork work,
                                         const FrameInfo& info) {
  // A message is not made twice.
  if (arrival_.done() || needs_frame_done())
    complete_arrival();
  MappedFrames frames = lanes_.map({}, {out});
  const auto work_on_reference = [&] {
    work_on(class_of(self_)->reference(self_, number), frames.output(0), work, info);
  };
  work_on_reference();
  if (complete_arrival())
    work_on_reference();
  return std::move(frames).end(needs_frame_done());
}

void FilterFrames::work_on(const ConstFrame& in, const Frame* out, FrameWork work,
                           const FrameInfo& info) {
  if (out && work != FrameWork::transform)
    copy(in, *out);
  if (work == FrameWork::transform)
    process(in, out, info);
  else if (work == FrameWork::inspect)
    process(in, nullptr, info);
}

bool FilterFrames::needs_frame_done() const {
  const auto needs = class_of(self_)->needs_frame_done;
  return needs && needs(self_);
}

DeviceWork FilterFrames::start(GstBuffer* in, GstBuffer* out, FrameWork work,
                               const FrameInfo& info) {
  const bool in_place = in == out;
  // Non-video peers take the payload size from the buffer, so trim what a pool gave in excess.
  if (!in_place && !this->out().is_video() && gst_buffer_get_size(out) > this->out().size)
    gst_buffer_set_size(out, static_cast<gssize>(this->out().size));
  MappedFrames frames = lanes_.map({in}, {in_place ? nullptr : out});
  work_on(frames.input(0), frames.output(0), work, info);
  return std::move(frames).end(needs_frame_done());
}

}  // namespace cudavision
