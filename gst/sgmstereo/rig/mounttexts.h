// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "gst/sgmstereo/rig/selfcalibration.h"
#include "gst/sgmstereo/rig/stereomounts.h"

/// What users are told about mounts that have moved.
namespace cudavision {

/// Returns what is found, in a sentence's words: "by 0.50 ± 0.01° in pitch, …".
std::string turn_text(const ExtrinsicEstimate& estimate);

/// Returns what a calibration has found that takes effect now.
std::string calibration_text(const SelfCalibrated& found);

/// Returns what a correction that begins does.
std::string correction_text(const MountReport& report);

}  // namespace cudavision
