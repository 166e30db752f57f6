// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/kernels/common/device_frames.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/integral/integral_definition.h"

namespace cudavision::test {

/// A frame, its integral image in the memory of a device, and what that must become.
struct IntegralFrames : DeviceFrames {
  IntegralFrames(Device& device, const FrameLayout& frame_layout,
                 const integral::Parameters& table_parameters, Content content,
                 std::uint64_t seed = 5)
      : DeviceFrames(device, frame_layout, content, seed),
        parameters(table_parameters),
        table_layout(test::table_layout(layout, parameters)),
        table_placement(dense_placement(table_layout)),
        table_block(device, std::vector<std::uint8_t>(table_placement.bytes, out_poison)) {}

  View<std::uint8_t> table() const {
    return frame_in(table_layout, table_placement, table_block.data()).planes[0];
  }

  /// The whole block of the table as the definition wants it.
  std::vector<std::uint8_t> expected() const {
    std::vector<std::uint8_t> block(table_placement.bytes, out_poison);
    defined_integral(layout, parameters, frame_in(layout, placement, host.data()),
                     frame_in(table_layout, table_placement, block.data()).planes[0]);
    return block;
  }

  integral::Parameters parameters;
  FrameLayout table_layout;
  Placement table_placement;
  DeviceBlock<std::uint8_t> table_block;
};

}  // namespace cudavision::test
