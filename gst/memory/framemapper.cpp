// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/framemapper.h"

#include "gst/memory/memorydebug.h"

namespace cudavision {

FrameMapper::FrameMapper(Device& device, const CudaContext& context, const FrameFormat& format)
    : device_(device), context_(context), format_(format) {
  if (format.is_repacked())
    repack_ = std::make_unique<repack::Repack>(device, format.storage, format.form);
}

bool FrameMapper::in_place(const MappedBuffer& buffer) const {
  return buffer.on_device() || device_.kind() == DeviceKind::cpu;
}

Staging& FrameMapper::staging() {
  if (!staging_)
    staging_ = std::make_unique<Staging>(device_, format_.storage.frame);
  return *staging_;
}

FrameMapper::WaitForDevice::~WaitForDevice() {
  if (done_)
    return;
  try {
    device_.finish();
  } catch (const std::exception& e) {
    GST_WARNING("%s", e.what());
  }
}

FrameMapper::Input::Input(FrameMapper& mapper, GstBuffer* buffer)
    : mapper_(mapper),
      buffer_(buffer, mapper.format_, GST_MAP_READ, mapper.context_),
      wait_(mapper.device_),
      stored_(buffer_.frame()) {
  if (!mapper.in_place(buffer_)) {
    const Frame& own = mapper.own_frame();
    if (buffer_.page_locked())
      for (int p = 0; p < mapper.format_.storage.frame.plane_count; ++p)
        mapper.device_.upload(buffer_.frame().planes[p], own.planes[p]);
    else
      mapper.staging().upload(buffer_.frame(), own);
    stored_ = own;
  }
  if (mapper.repack_) {
    mapper.repack_->unpack(stored_, mapper.unpacked_frame());
    frame_ = mapper.unpacked_frame();
  } else {
    frame_ = stored_;
  }
}

void FrameMapper::Input::complete() {
  mapper_.device_.finish();
  wait_.done();
}

FrameMapper::Output::Output(FrameMapper& mapper, GstBuffer* buffer)
    : mapper_(mapper),
      buffer_(buffer, mapper.format_, GST_MAP_WRITE, mapper.context_),
      wait_(mapper.device_),
      stored_(mapper.in_place(buffer_) ? buffer_.frame() : mapper.own_frame()),
      frame_(mapper.repack_ ? mapper.unpacked_frame() : stored_) {}

void FrameMapper::Output::download() {
  if (mapper_.repack_)
    mapper_.repack_->pack(frame_, stored_);
  if (mapper_.in_place(buffer_))
    return;
  if (buffer_.page_locked())
    for (int p = 0; p < mapper_.format_.storage.frame.plane_count; ++p)
      mapper_.device_.download(stored_.planes[p], buffer_.frame().planes[p]);
  else
    mapper_.staging().download(stored_, buffer_.frame());
}

}  // namespace cudavision
