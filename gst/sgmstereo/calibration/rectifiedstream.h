// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/sgmstereo/stereostream.h"

/// What the frames of a stream are rectified by, and when that changes. Only the aggregating thread
/// may call these functions.
namespace cudavision {

/// Returns the rectification of the frames, if there is one. Work is made anew with it.
std::optional<Rectification> stereo_rectification(StereoStream& stream);

// Call these before each pair, the first one before anything is prepared for it.
/// Lets a calibration that the element has found itself take effect, if its turn has come. The
/// pairs before are pushed first, and then all work is released, because maps of both pictures
/// change.
GstFlowReturn stereo_follow_calibration(StereoStream& stream);
/// Lets the map of a right camera that has turned take effect, if its turn has come. The pairs
/// before are pushed first, because the device still works with the old map.
GstFlowReturn stereo_follow_mounts(StereoStream& stream);

/// Inspects a pair that is complete, and posts what that tells.
void stereo_inspect_pair(StereoStream& stream, const FrameTimes& times);

/// Warns once that the lengths of a calibration by sight are no measures. lengths is true if they
/// are put out.
void stereo_warn_of_unknown_lengths(StereoStream& stream, const StereoSettings& settings,
                                    bool lengths);

}  // namespace cudavision
