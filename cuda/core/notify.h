// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

#include "cuda/core/device.h"

namespace cudavision {

/// Calls call() once, in a thread of the driver, when a CUDA device has passed all work enqueued so
/// far, or has failed. call() must return soon and not use CUDA: later work on the device waits for
/// it. Throws Kind::device.
void notify_when_passed(Device& device, std::function<void()> call);

}  // namespace cudavision
