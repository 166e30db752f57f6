// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/deviceframe.h"

#include "cuda/core/division.h"

namespace cudavision {

const Frame& DeviceFrame::allocated(Device& device, const FrameLayout& layout) {
  if (memory_.data())
    return frame_;
  const auto pitch_of = [](const PlaneShape& plane) -> std::size_t {
    return round_up(static_cast<std::size_t>(plane.row_bytes), 128);
  };
  std::size_t size = 0;
  for (int p = 0; p < layout.plane_count; ++p)
    size += pitch_of(layout.planes[p]) * layout.planes[p].rows;
  memory_ = device.allocate(size);
  std::uint8_t* data = memory_.as<std::uint8_t>();
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneShape& plane = layout.planes[p];
    const std::size_t pitch = pitch_of(plane);
    frame_.planes[p] = {data, plane.row_bytes, plane.rows, static_cast<std::ptrdiff_t>(pitch)};
    data += pitch * plane.rows;
  }
  return frame_;
}

}  // namespace cudavision
