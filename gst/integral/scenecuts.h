// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/histequalize/histequalize.h"

namespace cudavision {

/// Finds scene cuts, as cudahistequalize does by default: a frame begins a new scene if more than a
/// quarter of its pixels have moved to other bins of the luminance histogram since the frame
/// before. Red, green and blue of more than 8 bits are judged by green, and 16 bits by the upper
/// eight. The device counts, and the host compares the few counts. All calls, the destructor
/// included, are made in the session's context.
class SceneCuts {
 public:
  SceneCuts(Device& device, const FrameLayout& layout);

  /// Enqueues the histogram of a frame.
  void count(const ConstFrame& frame);
  /// Enqueues what brings that to the host.
  void read_back();
  /// Call this once for each frame, when the device has finished read_back(). Returns true if the
  /// frame begins a new scene.
  bool found_cut();
  /// The next frame is the first one.
  void restart() { has_last_ = false; }

 private:
  std::uint64_t pixels() const noexcept;

  Device& device_;
  const FrameLayout layout_;  ///< with the channels that are judged
  histequalize::Histogram histogram_;
  Buffer counts_;
  std::array<Buffer, 2> host_counts_;  ///< of the last frame, and of the current one
  bool has_last_ = false;
};

}  // namespace cudavision
