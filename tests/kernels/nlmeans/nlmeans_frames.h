// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/kernels/common/device_frames.h"
#include "tests/kernels/nlmeans/nlmeans_definition.h"

namespace cudavision::test {

/// Frames, and what denoising must make of them.
struct DenoisedFrames : DeviceFrames {
  using DeviceFrames::DeviceFrames;

  /// The whole output block as the definition wants it.
  std::vector<std::uint8_t> expected(const nlmeans::Parameters& parameters) const {
    std::vector<std::uint8_t> block(placement.bytes, out_poison);
    defined_denoising(layout, parameters, frame_in(layout, placement, host.data()),
                      frame_in(layout, placement, block.data()));
    return block;
  }
};

}  // namespace cudavision::test
