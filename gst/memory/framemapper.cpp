// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/framemapper.h"

#include "gst/memory/memorydebug.h"

namespace cudavision {

namespace {

// Makes later work on `next` wait for all work on `queue`.
void wait_for_queue(Event& event, const Device& queue, Device& next) {
  if (&queue == &next)
    return;
  event.record();
  next.wait_event(event);
}

}  // namespace

FrameMapper::FrameMapper(const FrameQueues& queues, const CudaContext& context,
                         PageLocks* page_locks, const FrameFormat& format, GstMapFlags access)
    : queues_(queues),
      context_(context),
      page_locks_(page_locks),
      format_(format),
      access_(access),
      order_(queues.compute),
      uploaded_(queues.upload.make_event()),
      computed_(queues.compute.make_event()) {
  if (format.is_repacked())
    repack_ = std::make_unique<repack::Repack>(queues.compute, format.storage, format.form);
}

bool FrameMapper::in_place() const noexcept {
  return buffer_->on_device() || queues_.compute.kind() == DeviceKind::cpu;
}

Staging& FrameMapper::staging(Device& queue) {
  if (!staging_)
    staging_ = std::make_unique<Staging>(queue, format_.storage.frame);
  return *staging_;
}

void FrameMapper::bring_to_device() {
  Device& queue = queues_.upload;
  if (buffer_->on_peer())
    for (int p = 0; p < format_.storage.frame.plane_count; ++p)
      queue.copy(buffer_->frame().planes[p], stored_.planes[p]);
  else
    staging(queue).upload(buffer_->frame(), buffer_->locked_rows(), stored_);
  wait_for_queue(*uploaded_, queue, queues_.compute);
}

void FrameMapper::map(GstBuffer* buffer) {
  // A tensor's buffer must have the tensor's size, but a pool may return larger buffers.
  if (writes() && !format_.is_video() && gst_buffer_get_size(buffer) > format_.size)
    gst_buffer_set_size(buffer, static_cast<gssize>(format_.size));
  buffer_.emplace(buffer, format_, access_, context_, page_locks_);
  busy_ = true;
  if (buffer_->on_device())
    order_.begin(buffer);
  stored_ =
      in_place() ? buffer_->frame() : own_stored_.allocated(queues_.compute, format_.storage.frame);
  frame_ = repack_ ? own_frame_.allocated(queues_.compute, format_.layout) : stored_;
  if (writes())
    return;
  if (!in_place())
    bring_to_device();
  if (repack_)
    repack_->unpack(stored_, frame_);
}

OwnedBuffer FrameMapper::unmap() noexcept {
  if (!buffer_)
    return nullptr;
  if (busy_) {
    try {
      queues_.finish();
    } catch (const std::exception& e) {
      GST_WARNING("%s", e.what());
    }
  }
  OwnedBuffer buffer(gst_buffer_ref(buffer_->buffer()));
  buffer_.reset();
  return buffer;
}

void FrameMapper::end() {
  if (writes() && repack_)
    repack_->pack(frame_, stored_);
  if (!downloads()) {
    computed_->record();
    return;
  }
  wait_for_queue(*computed_, queues_.compute, queues_.download);
  staging(queues_.download).download(stored_, buffer_->frame(), buffer_->locked_rows());
}

void FrameMapper::complete() {
  if (downloads())
    staging_->collect(buffer_->frame());
  else
    computed_->wait();
  busy_ = false;
  // With the mark, downstream would wait for all work on the stream, including later frames.
  if (writes() && buffer_->on_device())
    mark_finished(buffer_->buffer());
}

bool FrameMapper::is_stream_ordered() const {
  return buffer_->on_device() && order_is_known(buffer_->buffer());
}

// Also marks inputs, so that they are neither overwritten nor freed while the device reads them.
void FrameMapper::end_in_stream_order() {
  if (writes() && repack_)
    repack_->pack(frame_, stored_);
  order_.end(buffer_->buffer());
  mark_unfinished(buffer_->buffer());
  busy_ = false;
}

}  // namespace cudavision
