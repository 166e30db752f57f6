// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"

namespace cudavision {

/// Calls cuda(device, arguments…) on a CUDA device, and cpu(device, arguments…) on the CPU device.
/// Builds without CUDA do not reference cuda, which is not defined there.
template <auto cuda, auto cpu, class... Arguments>
auto dispatch(Device& device, const Arguments&... arguments) {
  if constexpr (built_with_cuda())
    if (device.kind() == DeviceKind::cuda)
      return cuda(device, arguments...);
  return cpu(device, arguments...);
}

}  // namespace cudavision
