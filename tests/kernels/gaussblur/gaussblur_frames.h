// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

#include "tests/kernels/common/device_frames.h"
#include "tests/kernels/gaussblur/gaussblur_definition.h"

namespace cudavision::test {

/// Frames, and what a blur must make of them.
struct BlurFrames : DeviceFrames {
  using DeviceFrames::DeviceFrames;

  /// The whole output block as the definition wants it after a blur with parameters.
  std::vector<std::uint8_t> expected(const gaussblur::Parameters& parameters) const {
    std::vector<std::uint8_t> block(placement.bytes, out_poison);
    defined_blur(layout, parameters, frame_in(layout, placement, host.data()),
                 frame_in(layout, placement, block.data()));
    return block;
  }
};

inline gaussblur::Parameters with_sigma(double sigma) {
  gaussblur::Parameters parameters;
  parameters.sigma_x = parameters.sigma_y = sigma;
  return parameters;
}

/// with_sigma(2), changed.
inline gaussblur::Parameters changed(const std::function<void(gaussblur::Parameters&)>& change) {
  gaussblur::Parameters parameters = with_sigma(2);
  change(parameters);
  return parameters;
}

}  // namespace cudavision::test
