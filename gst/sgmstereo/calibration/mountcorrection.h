// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <future>
#include <optional>

#include "cuda/sgm/mountfit.h"
#include "gst/sgmstereo/calibration/rectification.h"

namespace cudavision {

/// Returns the camera whose map rectifies the pictures of a right camera that has turned. Its
/// `rotation` is none if the turn has a zoom, but the inverse of the matrix that OpenCV needs.
RectifiedCamera turned(const RectifiedCamera& camera, const sgm::MountTurn& turn);

/// The maps that follow the turns of the right camera. A map takes longer to make than a frame
/// lasts, so a thread of its own makes it. It takes effect a fixed number of pairs later, however
/// long the thread needs, so that the same frames give the same maps.
class MountCorrection {
 public:
  static constexpr int pairs_to_wait = 8;

  /// Waits for the thread, if there is one.
  void reset() { *this = MountCorrection(); }

  /// The turn that the right pictures are corrected by.
  const sgm::MountTurn& current() const noexcept { return current_; }
  /// Returns how many turns have taken effect or will do so.
  unsigned count() const noexcept { return count_; }
  bool is_pending() const noexcept { return pending_.has_value(); }

  /// Begins to make the map of another turn, for pictures of width×height. None may be pending.
  void begin(const sgm::MountTurn& turn, const RectifiedCamera& camera, int width, int height);

  /// Call this before each pair. Returns true if a map takes effect with it.
  bool is_due();
  /// Returns that map. Waits for the thread, and throws what it has thrown.
  RectifyingMap take();

  /// The cameras are calibrated anew: no turn is corrected any more. The count goes on.
  void forget() {
    current_ = {};
    pending_.reset();
  }
  /// All maps are made anew: a turn that is pending takes effect at once.
  void settle();

 private:
  struct Pending {
    sgm::MountTurn turn;
    int pairs;  ///< still to come before it takes effect
    std::future<RectifyingMap> map;
  };

  sgm::MountTurn current_;
  unsigned count_ = 0;
  std::optional<Pending> pending_;
};

}  // namespace cudavision
