// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"

namespace cudavision {

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
