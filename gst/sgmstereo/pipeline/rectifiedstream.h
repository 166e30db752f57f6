// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/sgmstereo/pipeline/stereostream.h"

/// What the frames of a stream are rectified by, and when that changes. Only the aggregating thread
/// may call these functions.
namespace cudavision {

/// Returns the rectification of the frames, if there is one. Work is made anew with it.
std::optional<Rectification> stereo_rectification(StereoStream& stream);

/// Lets a calibration that the element has found itself take effect, for which all is released,
/// because the maps of both pictures change. No pair may be in flight.
GstFlowReturn stereo_apply_calibration(StereoStream& stream);
/// Lets the map of a right camera that has turned take effect. No pair may be in flight, because
/// the device works with the old map.
void stereo_apply_correction(StereoStream& stream);

/// Warns once that the lengths of a calibration by sight are no measures. lengths is true if they
/// are put out.
void stereo_warn_of_unknown_lengths(StereoStream& stream, const StereoSettings& settings,
                                    bool lengths);

}  // namespace cudavision
