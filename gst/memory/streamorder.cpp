// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/streamorder.h"

#include "gst/memory/cudastream.h"
#include "gst/memory/libgstcuda.h"

namespace cudavision {
namespace {

template <class Visit>
void for_each_stream(GstBuffer* buffer, Visit visit) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    if (const CudaStream stream = is_cuda_memory(memory) ? stream_of_cuda_memory(memory) : nullptr)
      visit(memory, stream);
  }
}

}  // namespace

bool order_is_known(const FrameFormat& format) {
  return format.cuda_memory && memory_carries_streams;
}

bool order_is_known(GstBuffer* buffer) {
  guint known = 0;
  for_each_stream(buffer, [&](GstMemory*, CudaStream) { ++known; });
  return known > 0 && known == gst_buffer_n_memory(buffer);
}

// Several threads may use a buffer, so memory that is already marked is not written to.
void mark_unfinished(GstBuffer* buffer) {
  for_each_stream(buffer, [](GstMemory* memory, CudaStream) {
    if (!is_marked_unfinished(memory))
      mark_unfinished(memory);
  });
}

void mark_finished(GstBuffer* buffer) {
  for_each_stream(buffer, [](GstMemory* memory, CudaStream) { mark_finished(memory); });
}

StreamOrder::OtherStream& StreamOrder::other_stream(CudaStream stream) {
  if (!other_.device || other_.device->stream() != stream) {
    other_ = {};
    other_.device = make_cuda_device(stream);
    other_.event = other_.device->make_event();
  }
  return other_;
}

void StreamOrder::begin(GstBuffer* buffer) {
  for_each_stream(buffer, [&](GstMemory* memory, CudaStream stream) {
    if (stream == device_.stream() || !is_marked_unfinished(memory))
      return;
    Event& event = *other_stream(stream).event;
    event.record();
    device_.wait_event(event);
  });
}

void StreamOrder::end(GstBuffer* buffer) {
  bool recorded = false;
  for_each_stream(buffer, [&](GstMemory*, CudaStream stream) {
    if (stream == device_.stream())
      return;
    if (!event_)
      event_ = device_.make_event();
    if (!recorded)
      event_->record();
    recorded = true;
    other_stream(stream).device->wait_event(*event_);
  });
}

}  // namespace cudavision
