// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/deviceframe.h"

namespace cudavision {
namespace {

// Memory transactions of the device are aligned to this.
constexpr std::size_t row_alignment = 128;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + row_alignment - 1) / row_alignment * row_alignment;
}

}  // namespace

const Frame& DeviceFrame::allocated(Device& device, const FrameLayout& layout) {
  if (memory_.data())
    return frame_;
  std::size_t size = 0;
  for (int p = 0; p < layout.plane_count; ++p)
    size += aligned(layout.planes[p].row_bytes) * layout.planes[p].rows;
  memory_ = device.allocate(size);
  std::uint8_t* data = memory_.as<std::uint8_t>();
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneShape& plane = layout.planes[p];
    const std::size_t pitch = aligned(plane.row_bytes);
    frame_.planes[p] = {data, plane.row_bytes, plane.rows, static_cast<std::ptrdiff_t>(pitch)};
    data += pitch * plane.rows;
  }
  return frame_;
}

}  // namespace cudavision
