// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>

#include "cuda/core/device.h"
#include "cuda/core/range.h"

namespace cudavision {

inline constexpr Range<int> frames_in_flight_range{0, 16};

enum class FlightUnit { frame, pair };

/// If more pipelines than this share a GPU, frames of different pipelines overlap sufficiently.
inline constexpr std::size_t overlapping_pipelines = 8;

/// Returns the number of frames in flight for frames-in-flight=0. One frame is enough on the CPU,
/// where it occupies all cores, and in stream order, where frames overlap anyway (see FrameMapper).
/// On an H200, three frames of 1920×1080 reached 96 % of the rate of six. Two stereo
/// pairs were fastest. With more pipelines than overlapping_pipelines, one frame was faster than
/// three, and took half the CPU time.
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
