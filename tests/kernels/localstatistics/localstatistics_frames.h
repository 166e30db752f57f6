// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/kernels/common/device_frames.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"
#include "tests/kernels/localstatistics/localstatistics_definition.h"

namespace cudavision::test {

/// A frame, room in the memory of a device for statistics of it, and what they must be.
struct StatisticsFrames : DeviceFrames {
  StatisticsFrames(Device& device, const FrameLayout& frame_layout, int bits, Content content,
                   std::uint64_t seed = 5)
      : DeviceFrames(device, frame_layout, content, seed),
        plane_layout(gray_layout(layout.width, layout.height, bits)),
        plane_placement(dense_placement(plane_layout)),
        plane_block(device, std::vector<std::uint8_t>(plane_placement.bytes, out_poison)) {}

  View<std::uint8_t> plane() const {
    return frame_in(plane_layout, plane_placement, plane_block.data()).planes[0];
  }

  /// The whole block of the plane as the definition wants it.
  std::vector<std::uint8_t> expected(const localstatistics::Parameters& parameters) const {
    std::vector<std::uint8_t> block(plane_placement.bytes, out_poison);
    defined_statistics(layout, plane_layout.bits, parameters,
                       frame_in(layout, placement, host.data()),
                       frame_in(plane_layout, plane_placement, block.data()).planes[0]);
    return block;
  }

  FrameLayout plane_layout;
  Placement plane_placement;
  DeviceBlock<std::uint8_t> plane_block;
};

}  // namespace cudavision::test
