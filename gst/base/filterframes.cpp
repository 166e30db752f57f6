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

FilterFrames::FilterFrames(GstCudaVisionFilter* self, const DeviceSession& session,
                           const FrameFormat& in, const FrameFormat& out, bool same_caps)
    : self_(self),
      device_(session.device()),
      same_caps_(same_caps),
      input_(device_, session.context(), in),
      output_(device_, session.context(), out) {}

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
  G_TYPE_INSTANCE_GET_CLASS(self_, GST_TYPE_CUDA_VISION_FILTER, GstCudaVisionFilterClass)
      ->process(self_, in, out, info);
}

void FilterFrames::copy(const ConstFrame& in, const Frame& out) {
  for (int p = 0; p < input_.format().layout.plane_count; ++p)
    device_.copy(in.planes[p], out.planes[p]);
}

void FilterFrames::inspect(GstBuffer* in, const FrameInfo& info) {
  FrameMapper::Input input(input_, in);
  process(input.frame(), nullptr, info);
  input.complete();
}

void FilterFrames::compute(GstBuffer* in, GstBuffer* out, FrameWork work, const FrameInfo& info) {
  // Non-video peers take the payload size from the buffer, so trim what a pool gave in excess.
  if (!output_.format().is_video() && gst_buffer_get_size(out) > output_.format().size)
    gst_buffer_set_size(out, static_cast<gssize>(output_.format().size));
  FrameMapper::Input input(input_, in);
  FrameMapper::Output output(output_, out);
  if (work == FrameWork::transform) {
    process(input.frame(), &output.frame(), info);
  } else {
    copy(input.frame(), output.frame());
    if (work == FrameWork::inspect)
      process(input.frame(), nullptr, info);
  }
  output.complete(input);
}

}  // namespace cudavision
