// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "gst/sgmstereo/calibration/selfcalibration.h"
#include "gst/sgmstereo/calibration/stereomounts.h"

/// What StereoDiagnostics says about mounts that have moved.
namespace cudavision {

/// Adds fields to the element message, all of them double unless they say otherwise. While too
/// little is known, and with CalibrationDrift::off, there are none.
///   rows-off, rows-off-error: MountFinding::rows_off and rows_error,
///   pitch, pitch-error, yaw, yaw-error, roll, roll-error: by how many degrees the right camera has
///     turned, see sgm::MountTurn, and the standard errors,
///   zoom, zoom-error: its focal length, relative to what it should be.
/// With CalibrationDrift::correct, these as well:
///   corrected-pitch, corrected-yaw, corrected-roll, corrected-zoom: the turn that was corrected
///   while
///     the pair was matched,
///   corrections (guint): how many corrections have begun since the start,
///   known-distance-offset: DistanceFinding::offset, while there is one.
/// With calibration=auto:
///   calibrations (guint): how many calibrations have taken effect since the start.
void add_mount_fields(GstStructure* structure, const MountReport& report);

/// Returns what is found, in a sentence's words: "by 0.50 ± 0.01° in pitch, …".
std::string turn_text(const MountFinding& finding);

/// Returns what a calibration has found that takes effect now.
std::string calibration_text(const SelfCalibrated& found);

/// Returns what a correction that begins does.
std::string correction_text(const MountReport& report);

}  // namespace cudavision
