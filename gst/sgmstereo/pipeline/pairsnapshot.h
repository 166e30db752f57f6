// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "cuda/core/device.h"
#include "cuda/sgm/noise.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision {

inline View<std::uint8_t> dense_rows(const Buffer& memory, int row_bytes, int rows) {
  return {memory.as<std::uint8_t>(), row_bytes, rows, row_bytes};
}

/// Returns rows in `memory`. The first call allocates it on the device.
inline View<std::uint8_t> allocated_rows(Device& device, Buffer& memory, int row_bytes, int rows) {
  if (!memory.data())
    memory = device.allocate(static_cast<std::size_t>(row_bytes) * static_cast<std::size_t>(rows));
  return dense_rows(memory, row_bytes, rows);
}

/// Host copies of a pair's luminances, disparity map and noise state, for the inspection. Unless
/// noted, the functions, constructor and destructor need the device's context.
class PairSnapshot {
 public:
  PairSnapshot(Device& device, const PlaneSize& size)
      : device_(device),
        size_(size),
        map_memory_(device.allocate_host(std::size_t{2} * static_cast<std::size_t>(size.width) *
                                         static_cast<std::size_t>(size.height))),
        noise_memory_(device.allocate_host(sizeof(sgm::NoiseState))) {}

  /// Returns device memory for the map before holes are filled.
  View<std::uint8_t> unfilled() {
    return allocated_rows(device_, unfilled_memory_, 2 * size_.width, size_.height);
  }

  /// Enqueues the downloads. `noise` is nullptr if it was not measured.
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

  // The next functions need no context. The results are valid when the downloads are complete.
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

  Device& device_;
  const PlaneSize size_;
  PlaneCopy left_, right_;
  Buffer map_memory_;
  Buffer noise_memory_;  ///< a NoiseState
  bool has_noise_ = false;
  Buffer unfilled_memory_;
};

}  // namespace cudavision
