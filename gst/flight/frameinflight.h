// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <utility>

#include "gst/flight/framelanes.h"

namespace cudavision {

/// A frame, or a pair, from its enqueued work until it is pushed: the one owner of what goes
/// downstream, which only complete() gives up. Outputs are the buffers, and where they go. A frame
/// that is dropped waits for the device.
template <class Outputs>
class FrameInFlight {
 public:
  /// work may be none, if the device does nothing.
  FrameInFlight(Outputs outputs, DeviceWork work)
      : outputs_(std::move(outputs)), work_(std::move(work)) {}

  Outputs& outputs() noexcept { return outputs_; }
  DeviceWork& work() noexcept { return work_; }

  /// Completes the work, and nothing is left to wait for. Throws Error.
  void finish() { std::move(work_).complete(); }
  /// Likewise, and returns what is to be pushed.
  Outputs complete() && {
    finish();
    return std::move(outputs_);
  }

 private:
  Outputs outputs_;
  DeviceWork work_;  ///< goes first: the device may still write to the outputs
};

}  // namespace cudavision
