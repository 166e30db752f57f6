// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"

namespace cudavision {

/// A device's queues for uploads, kernels and downloads. Work of successive frames overlaps, unless
/// all three are the same queue.
struct FrameQueues {
  explicit FrameQueues(Device& device) : upload(device), compute(device), download(device) {}
  FrameQueues(Device& upload, Device& compute, Device& download)
      : upload(upload), compute(compute), download(download) {}

  /// Waits for the work of all queues. Throws an Error of Kind::device if any work has failed.
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
