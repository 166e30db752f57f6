// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {

/// A dense frame in device memory, and an output frame of the same layout.
struct DeviceFrames {
  static constexpr std::uint8_t out_poison = 0xcd;

  DeviceFrames(Device& device, const FrameLayout& frame_layout, Content content,
               std::uint64_t seed = 5)
      : layout(frame_layout),
        placement(dense_placement(layout)),
        host(painted(layout, placement, content, seed)),
        in_block(device, host),
        out_block(device, std::vector<std::uint8_t>(placement.bytes, out_poison)) {}

  ConstFrame in() const {
    return frame_in(layout, placement, static_cast<const std::uint8_t*>(in_block.data()));
  }
  Frame out() const { return frame_in(layout, placement, out_block.data()); }

  static std::vector<std::uint8_t> painted(const FrameLayout& layout, const Placement& placement,
                                           Content content, std::uint64_t seed) {
    std::vector<std::uint8_t> block(placement.bytes, 0xa5);
    paint(layout, frame_in(layout, placement, block.data()), content, seed);
    return block;
  }

  FrameLayout layout;
  Placement placement;
  std::vector<std::uint8_t> host;
  DeviceBlock<std::uint8_t> in_block, out_block;
};

}  // namespace cudavision::test
