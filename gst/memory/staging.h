// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <vector>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

namespace cudavision {

/// Carries frames between ordinary host memory and the device through page-locked memory, piece by
/// piece: the CPU copies one piece while the device transfers another. An object serves one
/// direction.
class Staging {
 public:
  Staging(Device& device, const FrameLayout& layout);

  /// When this returns, host has been read, but the device may still be transferring. The device
  /// must have finished before the next call.
  void upload(const ConstFrame& host, const Frame& device);
  /// Enqueues the transfer of a frame, which collect() brings to its place.
  void download(const ConstFrame& device);
  /// True if that transfer is done, so that collect() would not wait.
  bool arrived() const;
  /// Waits for that transfer. When this returns, host is complete.
  void collect(const Frame& host);

 private:
  struct Piece {
    int plane;
    int row;
    int rows;
    std::size_t offset;
  };

  View<std::uint8_t> staged(const Piece& piece) const;

  Device& device_;
  const FrameLayout layout_;
  std::vector<Piece> pieces_;
  Buffer memory_;
  std::vector<std::unique_ptr<Event>> arrived_;
};

}  // namespace cudavision
