// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "cuda/core/device.h"
#include "cuda/sgm/noise.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision {

/// A pair's luminances and its map, copied to the host to be inspected there. All calls, the
/// destructor included, are made in the context of the device, except for those that say otherwise.
class PairSnapshot {
 public:
  PairSnapshot(Device& device, const PlaneSize& size);

  /// Returns room on the device for the map before its holes are filled.
  View<std::uint8_t> unfilled();
  /// Enqueues the copies. map is on the device, and so is noise, which is null if it was not
  /// measured.
  void take(const sgm::SgmStereo::Pictures& pictures, View<const std::uint8_t> map,
            const sgm::NoiseState* noise);

  // These are for when the device has made the copies, and need no context.
  const SamplePlane& left() const { return left_.plane; }
  const SamplePlane& right() const { return right_.plane; }
  View<const std::uint8_t> map() const { return map_; }
  const PlaneSize& size() const { return size_; }
  std::optional<sgm::NoiseState> noise() const;

 private:
  struct PlaneCopy {
    Buffer memory;
    SamplePlane plane;
    void copy(Device& device, const SamplePlane& from);
  };

  Device& device_;
  const PlaneSize size_;
  PlaneCopy left_, right_;
  Buffer map_memory_;
  View<std::uint8_t> map_;
  Buffer noise_memory_;  ///< a NoiseState
  bool has_noise_ = false;
  Buffer unfilled_memory_;  ///< allocated when it is needed first
};

}  // namespace cudavision
