// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

namespace cudavision {

class DeviceFrame {
 public:
  /// Allocates the frame in the first call. Rows are aligned to 128 bytes. layout must be the same
  /// in all calls. Throws out_of_memory.
  const Frame& allocated(Device& device, const FrameLayout& layout);

 private:
  Buffer memory_;
  Frame frame_;
};

}  // namespace cudavision
