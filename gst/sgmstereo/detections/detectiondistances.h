// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/device.h"
#include "cuda/sgm/distances/distances.h"
#include "gst/base/devicesession.h"
#include "gst/base/regions/framemasks.h"
#include "gst/sgmstereo/detections/pairdetections.h"

namespace cudavision {

/// Measures the detections of pairs in flight. All calls, also the destructor, need the context.
class DetectionDistances {
 public:
  DetectionDistances(const DeviceSession& session, const PictureSize& map,
                     const sgm::Parameters& parameters, std::size_t max_in_flight)
      : distances_(session.device(), map.width, map.height, parameters),
        masks_(session.device(), session.context()),
        results_(session.device().allocate_host(max_in_flight * slot_bytes)),
        slots_(max_in_flight) {}

  void set_parameters(const sgm::Parameters& parameters) { distances_.set_parameters(parameters); }

  /// Enqueues the work on a pair. pair.results refers to memory of this object, which is reused
  /// after max_in_flight pairs. `rectifying` is the left picture's map, or empty if the picture
  /// is not rectified.
  void run(View<const std::uint8_t> map, PairDetections& pair, const remap::MapView& rectifying) {
    auto* const results = results_.as<sgm::BoxDisparity>() + next_ * sgm::Distances::max_boxes;
    next_ = (next_ + 1) % slots_;
    const auto measure = [&](std::span<const regions::Mask> masks) {
      distances_.run(map, pair.visible, results, masks, rectifying);
    };
    if (pair.masks.empty())
      measure({});
    else
      masks_.run(pair.masks, FrameMasks::Unreadable::skip, measure);
    pair.results = results;
  }

 private:
  static constexpr std::size_t slot_bytes = sgm::Distances::max_boxes * sizeof(sgm::BoxDisparity);

  sgm::Distances distances_;
  FrameMasks masks_;
  Buffer results_;  ///< in host memory
  const std::size_t slots_;
  std::size_t next_ = 0;
};

}  // namespace cudavision
