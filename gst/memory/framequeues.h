// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"

namespace cudavision {

/// The bounds of the elements' property frames-in-flight, and the number that 0 stands for. More
/// has not been measured on a GPU yet.
inline constexpr int max_frames_in_flight = 16;
inline constexpr int default_frames_in_flight = 1;

/// The queues of a device through which a frame travels: to the device, through its kernels, and
/// back. Transfers in both directions and kernels of successive frames overlap, unless all three
/// are the same queue.
struct FrameQueues {
  explicit FrameQueues(Device& device) : upload(device), compute(device), download(device) {}
  FrameQueues(Device& upload, Device& compute, Device& download)
      : upload(upload), compute(compute), download(download) {}

  /// Waits for everything enqueued. Throws Kind::device if any of it failed.
  void finish() const {
    upload.finish();
    compute.finish();
    download.finish();
  }

  Device& upload;
  Device& compute;
  Device& download;
};

}  // namespace cudavision
