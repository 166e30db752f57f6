// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/framemapper.h"

#include "gst/memory/memorydebug.h"

namespace cudavision {

namespace {

// Lets later work on `next` wait for all that is enqueued on `queue`.
void wait_for_queue(Event& event, const Device& queue, Device& next) {
  if (&queue == &next)
    return;
  event.record();
  next.wait_event(event);
}

}  // namespace

FrameMapper::FrameMapper(const FrameQueues& queues, const CudaContext& context,
                         PageLocks* page_locks, const FrameFormat& format)
    : queues_(queues),
      context_(context),
      page_locks_(page_locks),
      format_(format),
      order_(queues.compute),
      uploaded_(queues.upload.make_event()),
      computed_(queues.compute.make_event()) {
  if (format.is_repacked())
    repack_ = std::make_unique<repack::Repack>(queues.compute, format.storage, format.form);
}

bool FrameMapper::in_place(const MappedBuffer& buffer) const {
  return buffer.on_device() || queues_.compute.kind() == DeviceKind::cpu;
}

bool FrameMapper::is_stream_ordered(const MappedBuffer& buffer) const {
  return buffer.on_device() && order_is_known(buffer.buffer());
}

Staging& FrameMapper::staging(Device& queue) {
  if (!staging_)
    staging_ = std::make_unique<Staging>(queue, format_.storage.frame);
  return *staging_;
}

void FrameMapper::bring_to_device(const MappedBuffer& buffer, const Frame& own) {
  Device& queue = queues_.upload;
  if (buffer.on_peer())
    for (int p = 0; p < format_.storage.frame.plane_count; ++p)
      queue.copy(buffer.frame().planes[p], own.planes[p]);
  else
    staging(queue).upload(buffer.frame(), buffer.locked_rows(), own);
}

FrameMapper::WaitForDevice::~WaitForDevice() {
  if (done_)
    return;
  try {
    queues_.finish();
  } catch (const std::exception& e) {
    GST_WARNING("%s", e.what());
  }
}

FrameMapper::Input::Input(FrameMapper& mapper, GstBuffer* buffer)
    : mapper_(mapper),
      buffer_(buffer, mapper.format_, GST_MAP_READ, mapper.context_, mapper.page_locks_),
      wait_(mapper.queues_),
      stored_(buffer_.frame()) {
  if (buffer_.on_device())
    mapper.order_.begin(buffer);
  if (!mapper.in_place(buffer_)) {
    const FrameQueues& queues = mapper.queues_;
    const Frame& own = mapper.own_frame();
    mapper.bring_to_device(buffer_, own);
    wait_for_queue(*mapper.uploaded_, queues.upload, queues.compute);
    stored_ = own;
  }
  if (mapper.repack_) {
    mapper.repack_->unpack(stored_, mapper.unpacked_frame());
    frame_ = mapper.unpacked_frame();
  } else {
    frame_ = stored_;
  }
}

void FrameMapper::Input::end() {
  mapper_.computed_->record();
}

void FrameMapper::Input::complete() {
  mapper_.computed_->wait();
  wait_.done();
}

bool FrameMapper::Input::is_stream_ordered() const {
  return mapper_.is_stream_ordered(buffer_);
}

// Whoever writes to the memory next must know that it may still be read, and so must libgstcuda
// when it frees the memory.
void FrameMapper::Input::end_in_stream_order() {
  mapper_.order_.end(buffer_.buffer());
  mark_unfinished(buffer_.buffer());
  wait_.done();
}

FrameMapper::Output::Output(FrameMapper& mapper, GstBuffer* buffer)
    : mapper_(mapper),
      buffer_(buffer, mapper.format_, GST_MAP_WRITE, mapper.context_, mapper.page_locks_),
      wait_(mapper.queues_),
      stored_(mapper.in_place(buffer_) ? buffer_.frame() : mapper.own_frame()),
      frame_(mapper.repack_ ? mapper.unpacked_frame() : stored_) {
  if (buffer_.on_device())
    mapper.order_.begin(buffer);
}

void FrameMapper::Output::end() {
  const FrameQueues& queues = mapper_.queues_;
  if (mapper_.repack_)
    mapper_.repack_->pack(frame_, stored_);
  if (mapper_.in_place(buffer_)) {
    mapper_.computed_->record();
    return;
  }
  wait_for_queue(*mapper_.computed_, queues.compute, queues.download);
  mapper_.staging(queues.download).download(stored_, buffer_.frame(), buffer_.locked_rows());
}

Event& FrameMapper::Output::completion() noexcept {
  return mapper_.in_place(buffer_) ? *mapper_.computed_ : mapper_.staging_->arrival();
}

void FrameMapper::Output::complete() {
  if (mapper_.in_place(buffer_))
    mapper_.computed_->wait();
  else
    mapper_.staging_->collect(buffer_.frame());
  wait_.done();
  // The work on this frame is done. A neighbour that found the mark would wait for the whole
  // stream, and so for later frames that are in flight.
  if (buffer_.on_device())
    mark_finished(buffer_.buffer());
}

bool FrameMapper::Output::is_stream_ordered() const {
  return mapper_.is_stream_ordered(buffer_);
}

// Mapping for writing has marked the memory as unfinished.
void FrameMapper::Output::end_in_stream_order() {
  if (mapper_.repack_)
    mapper_.repack_->pack(frame_, stored_);
  mapper_.order_.end(buffer_.buffer());
  wait_.done();
}

}  // namespace cudavision
