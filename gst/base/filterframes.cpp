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
                           std::size_t max_in_flight)
    : self_(self),
      device_(session.device()),
      same_caps_(same_caps),
      slots_(session.queues(max_in_flight), session.context(), session.page_locks(),
             max_in_flight) {
  slots_.set_input(0, in);
  slots_.set_output(0, out);
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

PendingGpuWork FilterFrames::start(GstBuffer* in, const ConstFrame* stored, GstBuffer* out,
                                   FrameWork work, const FrameInfo& info) {
  const bool in_place = in == out;
  // Non-video peers take the payload size from the buffer, so trim what a pool gave in excess.
  if (!in_place && !this->out().is_video() && gst_buffer_get_size(out) > this->out().size)
    gst_buffer_set_size(out, static_cast<gssize>(this->out().size));
  PendingGpuWork pending = slots_.map({stored ? nullptr : in}, {in_place ? nullptr : out});
  const ConstFrame input = stored ? *stored : pending.input(0);
  const Frame* const output = pending.output(0);
  const GstCudaVisionFilterClass* klass = class_of(self_);
  if (output && work != FrameWork::transform)
    for (int p = 0; p < this->in().layout.plane_count; ++p)
      device_.copy(input.planes[p], output->planes[p]);
  if (work != FrameWork::nothing)
    klass->process(self_, input, work == FrameWork::transform ? output : nullptr, info);
  pending.end(klass->needs_frame_done && klass->needs_frame_done(self_));
  return pending;
}

}  // namespace cudavision
