// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/framemapper.h"

#include "gst/memory/memorydebug.h"

namespace cudavision {
namespace {

// Rows on the device start where whole memory transactions do.
constexpr std::size_t row_alignment = 128;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + row_alignment - 1) / row_alignment * row_alignment;
}

}  // namespace

FrameMapper::FrameMapper(Device& device, const CudaContext& context, const FrameFormat& format)
    : device_(device), context_(context), format_(format) {}

bool FrameMapper::in_place(const MappedBuffer& planes) const {
  return planes.on_device() || device_.kind() == DeviceKind::cpu;
}

const Frame& FrameMapper::own_frame() {
  if (memory_.data())
    return frame_;
  const FrameLayout& layout = format_.layout;
  std::size_t size = 0;
  for (int p = 0; p < layout.plane_count; ++p)
    size += aligned(layout.planes[p].row_bytes) * layout.planes[p].rows;
  memory_ = device_.allocate(size);
  std::uint8_t* data = memory_.as<std::uint8_t>();
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneShape& plane = layout.planes[p];
    const std::size_t pitch = aligned(plane.row_bytes);
    frame_.planes[p] = {data, plane.row_bytes, plane.rows, static_cast<std::ptrdiff_t>(pitch)};
    data += pitch * plane.rows;
  }
  return frame_;
}

Staging& FrameMapper::staging() {
  if (!staging_)
    staging_ = std::make_unique<Staging>(device_, format_.layout);
  return *staging_;
}

FrameMapper::Input::Input(FrameMapper& mapper, GstBuffer* buffer)
    : planes_(buffer, mapper.format_, GST_MAP_READ, mapper.context_), frame_(planes_.frame()) {
  if (mapper.in_place(planes_))
    return;
  const Frame& own = mapper.own_frame();
  // The destructor of planes_ runs even if one of these throws, and the device must not read on.
  try {
    if (planes_.page_locked())
      for (int p = 0; p < mapper.format_.layout.plane_count; ++p)
        mapper.device_.upload(planes_.frame().planes[p], own.planes[p]);
    else
      mapper.staging().upload(planes_.frame(), own);
  } catch (...) {
    const DeviceIdle idle(mapper.device_);
    throw;
  }
  frame_ = own;
}

FrameMapper::Output::Output(FrameMapper& mapper, GstBuffer* buffer)
    : mapper_(mapper),
      planes_(buffer, mapper.format_, GST_MAP_WRITE, mapper.context_),
      frame_(mapper.in_place(planes_) ? planes_.frame() : mapper.own_frame()) {}

void FrameMapper::Output::complete() {
  if (!mapper_.in_place(planes_)) {
    if (planes_.page_locked())
      for (int p = 0; p < mapper_.format_.layout.plane_count; ++p)
        mapper_.device_.download(frame_.planes[p], planes_.frame().planes[p]);
    else
      mapper_.staging().download(frame_, planes_.frame());
  }
  mapper_.device_.finish();
}

DeviceIdle::~DeviceIdle() {
  if (done_)
    return;
  try {
    device_.finish();
  } catch (const std::exception& e) {
    GST_WARNING("%s", e.what());
  }
}

}  // namespace cudavision
