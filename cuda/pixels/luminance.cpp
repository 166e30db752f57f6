// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/pixels/luminance.h"

#include "cuda/core/layoutcheck.h"
#include "cuda/pixels/luminance_backend.h"

namespace cudavision {
namespace {

constexpr int row_alignment = 128;  // whole memory transactions

}  // namespace

Luminance::Luminance(Device& device, const FrameLayout& layout, const char* operation)
    : layout_(layout), operation_(operation) {
  check_luminance(operation, layout);
  const int luma = layout.find(Role::luma);
  if (luma >= 0 && layout.channels[luma].step == 1)
    return;
  const int row_bytes = layout.width * layout.sample_bytes();
  const int pitch = (row_bytes + row_alignment - 1) / row_alignment * row_alignment;
  memory_ = device.allocate(static_cast<std::size_t>(pitch) * layout.height);
  plane_ = {memory_.as<std::uint8_t>(), row_bytes, layout.height, pitch};
  backend_ = device.kind() == DeviceKind::cuda ? make_luminance_cuda(device, layout)
                                               : make_luminance_cpu(device, layout);
}

Luminance::~Luminance() = default;

SamplePlane Luminance::of(const ConstFrame& in) {
  check_frame(operation_, layout_, in, "input");
  if (backend_) {
    backend_->run(in, plane_);
    return {plane_, layout_.width, layout_.bits, 0};
  }
  const Channel& luma = layout_.channels[layout_.find(Role::luma)];
  View<const std::uint8_t> rows = in.planes[luma.plane];  // a step of 1 implies an offset of 0
  rows.width = layout_.width * layout_.sample_bytes();
  rows.height = layout_.height;
  return {rows, layout_.width, layout_.bits, layout_.shift};
}

}  // namespace cudavision
