// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/stereosettings.h"

/// Named sets of values for the properties that decide between speed, accuracy and density:
/// speckle-size, confidence-threshold, fill-holes, refine and slanted-surfaces.
namespace cudavision {

/// custom stands for all other values of these properties.
enum class StereoPreset { custom, fast, balanced, accurate, dense };

/// Gives the properties of a preset its values. custom changes nothing.
void apply_preset(StereoPreset preset, StereoSettings& settings);

/// Returns the preset whose values the properties have.
StereoPreset preset_of(const StereoSettings& settings);

}  // namespace cudavision
