// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/sgm/distances/distances.h"
#include "gst/sgmstereo/detections/pairdetections.h"

namespace cudavision {

/// Measures the detections of pairs in flight. All calls, the destructor included, are made in the
/// context of the device.
class DetectionDistances {
 public:
  DetectionDistances(Device& device, const PictureSize& map, const sgm::Parameters& parameters,
                     std::size_t max_in_flight)
      : distances_(device, map.width, map.height, parameters),
        results_(device.allocate_host(max_in_flight * slot_bytes)),
        slots_(max_in_flight) {}

  void set_parameters(const sgm::Parameters& parameters) { distances_.set_parameters(parameters); }

  /// Enqueues the work on a pair. Its results are memory of this object, which a later pair
  /// overwrites when max_in_flight pairs have followed.
  void run(View<const std::uint8_t> map, PairDetections& pair) {
    auto* const results = results_.as<sgm::BoxDisparity>() + next_ * sgm::Distances::max_boxes;
    next_ = (next_ + 1) % slots_;
    distances_.run(map, pair.visible, results);
    pair.results = results;
  }

 private:
  static constexpr std::size_t slot_bytes = sgm::Distances::max_boxes * sizeof(sgm::BoxDisparity);

  sgm::Distances distances_;
  Buffer results_;  ///< on the host
  const std::size_t slots_;
  std::size_t next_ = 0;
};

}  // namespace cudavision
