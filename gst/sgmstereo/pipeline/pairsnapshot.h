// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "cuda/core/device.h"
#include "cuda/sgm/noise.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision {

/// Returns dense rows in memory.
inline View<std::uint8_t> dense_rows(const Buffer& memory, int row_bytes, int rows) {
  return {memory.as<std::uint8_t>(), row_bytes, rows, row_bytes};
}

/// A pair's luminances and its map, copied to the host to be inspected there. All calls, the
/// destructor included, are made in the context of the device, except for those that say otherwise.
class PairSnapshot {
 public:
  PairSnapshot(Device& device, const PlaneSize& size)
      : device_(device),
        size_(size),
        map_memory_(device.allocate_host(map_bytes())),
        noise_memory_(device.allocate_host(sizeof(sgm::NoiseState))) {}

  /// Returns room on the device for the map before its holes are filled.
  View<std::uint8_t> unfilled() {
    if (!unfilled_memory_.data())
      unfilled_memory_ = device_.allocate(map_bytes());
    return dense_rows(unfilled_memory_, 2 * size_.width, size_.height);
  }

  /// Enqueues the copies. map is on the device, and so is noise, which is null if it was not
  /// measured.
  void take(const sgm::SgmStereo::Pictures& pictures, View<const std::uint8_t> map,
            const sgm::NoiseState* noise) {
    left_.copy(device_, pictures.left);
    right_.copy(device_, pictures.right);
    device_.download(map, dense_rows(map_memory_, 2 * size_.width, size_.height));
    has_noise_ = noise != nullptr;
    constexpr int bytes = sizeof(sgm::NoiseState);
    if (noise)
      device_.download({reinterpret_cast<const std::uint8_t*>(noise), bytes, 1, bytes},
                       dense_rows(noise_memory_, bytes, 1));
  }

  // These are for when the device has made the copies, and need no context.
  const SamplePlane& left() const { return left_.plane; }
  const SamplePlane& right() const { return right_.plane; }
  View<const std::uint8_t> map() const {
    return dense_rows(map_memory_, 2 * size_.width, size_.height);
  }
  std::optional<sgm::NoiseState> noise() const {
    return has_noise_ ? std::optional(*noise_memory_.as<sgm::NoiseState>()) : std::nullopt;
  }

 private:
  struct PlaneCopy {
    Buffer memory;
    SamplePlane plane;

    void copy(Device& device, const SamplePlane& from) {
      if (!memory.data())
        memory = device.allocate_host(static_cast<std::size_t>(from.rows.width) *
                                      static_cast<std::size_t>(from.height()));
      const View<std::uint8_t> rows = dense_rows(memory, from.rows.width, from.height());
      device.download(from.rows, rows);
      plane = from;
      plane.rows = rows;
    }
  };

  std::size_t map_bytes() const {
    return std::size_t{2} * static_cast<std::size_t>(size_.width) *
           static_cast<std::size_t>(size_.height);
  }

  Device& device_;
  const PlaneSize size_;
  PlaneCopy left_, right_;
  Buffer map_memory_;
  Buffer noise_memory_;  ///< a NoiseState
  bool has_noise_ = false;
  Buffer unfilled_memory_;  ///< allocated when it is needed first
};

}  // namespace cudavision
