// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>

#include "cuda/core/device.h"
#include "cuda/core/range.h"

namespace cudavision {

/// The values of the elements' property frames-in-flight.
inline constexpr Range<int> frames_in_flight_range{0, 16};

/// The work of which several may be in flight.
enum class FlightUnit { frame, pair };

/// Frames of more pipelines than this on one GPU overlap one another.
inline constexpr std::size_t overlapping_pipelines = 8;

/// Returns the number that frames-in-flight=0 stands for. in_stream_order is true if frames go
/// downstream in the order of a stream before the device has finished them (see FrameMapper): then
/// successive ones overlap anyway. On the CPU, one frame occupies all cores. Otherwise frames cross
/// the bus, or the host waits for the device. On an H200, three frames of 1920×1080 crossed the bus
/// at 96 % of the rate of six, and two pairs were matched faster than any other number. With
/// more than overlapping_pipelines, one frame was faster and took half of the processor time.
constexpr std::size_t automatic_frames_in_flight(FlightUnit unit, DeviceKind backend,
                                                 bool in_stream_order,
                                                 std::size_t pipelines_on_gpu) noexcept {
  if (backend == DeviceKind::cpu || in_stream_order)
    return 1;
  if (unit == FlightUnit::pair)
    return 2;
  return pipelines_on_gpu > overlapping_pipelines ? 1 : 3;
}

}  // namespace cudavision
