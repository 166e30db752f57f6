// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

namespace cudavision {

/// A frame in memory of a device.
class DeviceFrame {
 public:
  /// Allocates the frame if it does not exist yet. Rows begin at multiples of 128 bytes. Throws
  /// out_of_memory. layout must be the same in all calls.
  const Frame& allocated(Device& device, const FrameLayout& layout);

 private:
  Buffer memory_;
  Frame frame_;
};

}  // namespace cudavision
