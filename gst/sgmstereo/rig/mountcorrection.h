// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/rectification/rectification.h"
#include "gst/sgmstereo/rig/delayedresult.h"
#include "gst/sgmstereo/rig/geometry/mountfit.h"

namespace cudavision {

/// Returns the camera whose map rectifies the pictures of a right camera that has turned. Its
/// `rotation` is none if the turn has a zoom, but the inverse of the matrix that OpenCV needs.
RectifiedCamera turned(const RectifiedCamera& camera, const rig::RigRotation& turn);

/// The maps that follow the turns of the right camera.
class MountCorrection {
 public:
  /// The turn that the right pictures are corrected by.
  const rig::RigRotation& current() const noexcept { return current_; }
  /// Returns how many turns have taken effect or will do so.
  unsigned count() const noexcept { return count_; }
  bool is_pending() const noexcept { return map_.is_pending(); }

  /// Begins to make the map of another turn, for pictures of width×height. None may be pending.
  void begin(const rig::RigRotation& turn, const RectifiedCamera& camera, int width, int height);

  /// Call this before each pair. Returns true if a map takes effect with it.
  bool is_due() noexcept { return map_.is_due(); }
  /// Returns that map. Waits for the thread, and throws what it has thrown.
  RectifyingMap take();

  /// The cameras are calibrated anew: no turn is corrected any more. The count goes on.
  void forget() {
    current_ = {};
    map_ = {};
  }
  /// All maps are made anew: a turn that is pending takes effect at once.
  void settle();

 private:
  rig::RigRotation current_, next_;
  unsigned count_ = 0;
  DelayedResult<RectifyingMap> map_;
};

}  // namespace cudavision
